"""Skia's GL back end (Ganesh) on a moderngl context: paths, gradients, blurs, clips, images and text into a GPU surface."""

import math

import numpy as np
import skia

import offscreen
import pictures

ctx = offscreen.context()
gpu = skia.GrDirectContext.MakeGL(skia.GrGLInterface.MakeEGL())
if gpu is None:
    raise SystemExit("Skia does not accept the context")
surface = skia.Surface.MakeRenderTarget(gpu, skia.Budgeted.kNo, skia.ImageInfo.MakeN32Premul(640, 480), 4, None)
if surface is None:
    raise SystemExit("Skia makes no surface")
canvas = surface.getCanvas()
canvas.clear(skia.Color(22, 26, 34))
sky = skia.GradientShader.MakeLinear([(0, 0), (640, 480)], [0xFF17324D, 0xFF7A3B69, 0xFFE8A87C], [0.0, 0.6, 1.0])
canvas.drawRect(skia.Rect(20, 20, 620, 460), skia.Paint(Shader=sky, AntiAlias=True))
sun = skia.GradientShader.MakeRadial((470, 150), 110, [0xFFFFF3C4, 0xFFF2A65A, 0x00F2A65A])
canvas.drawCircle(470, 150, 110, skia.Paint(Shader=sun, AntiAlias=True))
star = skia.Path()
for k in range(11):
    a = 4 * math.pi * 2 / 11 * k
    (star.moveTo if k == 0 else star.lineTo)(170 + 110 * math.sin(a), 150 - 110 * math.cos(a))
star.close()
star.setFillType(skia.PathFillType.kEvenOdd)
canvas.drawPath(star, skia.Paint(Color=0xFFE6E1C5, AntiAlias=True))
canvas.drawPath(
    star, skia.Paint(Color=0xFF35605A, AntiAlias=True, Style=skia.Paint.kStroke_Style, StrokeWidth=3.0,
                     StrokeJoin=skia.Paint.kRound_Join)
)
shadow = skia.ImageFilters.DropShadow(6, 8, 6, 6, 0xA0000000)
canvas.drawRoundRect(skia.Rect(60, 300, 260, 430), 24, 24, skia.Paint(Color=0xFF4DA1A9, AntiAlias=True, ImageFilter=shadow))
canvas.save()
clip = skia.Path()
clip.addOval(skia.Rect(300, 270, 580, 440))
canvas.clipPath(clip, True)
y, x = np.mgrid[0:64, 0:64]
texels = np.stack([x * 4, y * 4, ((x // 8 + y // 8) % 2) * 200, np.full_like(x, 255)], -1).astype("u1")
image = skia.Image.fromarray(texels, colorType=skia.kRGBA_8888_ColorType)
canvas.rotate(-8)
canvas.drawImageRect(image, skia.Rect(230, 300, 560, 540), skia.SamplingOptions(skia.FilterMode.kLinear, skia.MipmapMode.kLinear))
canvas.restore()
wave = skia.Path()
wave.moveTo(20, 250)
for k in range(6):
    wave.rCubicTo(30, -60, 70, 60, 100, 0)
canvas.drawPath(
    wave, skia.Paint(Color=0xFFFFD166, AntiAlias=True, Style=skia.Paint.kStroke_Style, StrokeWidth=7.0,
                     PathEffect=skia.DashPathEffect.Make([24.0, 10.0], 0.0))
)
canvas.drawCircle(330, 250, 60, skia.Paint(Color=0xFFEF476F, AntiAlias=True, BlendMode=skia.BlendMode.kScreen,
                                           MaskFilter=skia.MaskFilter.MakeBlur(skia.kNormal_BlurStyle, 8.0)))
surface.flushAndSubmit()
pixels = np.empty((480, 640, 4), "u1")
info = skia.ImageInfo.Make(640, 480, skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType)
if not surface.readPixels(info, pixels, 640 * 4, 0, 0):
    raise SystemExit("Skia does not read the surface back")
if ctx.error != "GL_NO_ERROR":
    raise SystemExit("GL error")
pictures.save(pixels)
