"""VTK's EGL window: a glyphed surface, contours, a physically based sphere, a volume, translucency by depth peeling, FXAA off."""

import os

import numpy as np

# Without this the window would be one of X11; the name has to be known before the first window is made.
os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

import pictures


def actor(source, color, **settings):
    """What draws a source, in one colour unless it brings its own."""
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    mapper.SetScalarVisibility(color is None)
    a = vtk.vtkActor()
    a.SetMapper(mapper)
    if color is not None:
        a.GetProperty().SetColor(*color)
    for name, value in settings.items():
        getattr(a.GetProperty(), "Set" + name)(value)
    return a


window = vtk.vtkRenderWindow()
window.SetOffScreenRendering(True)
window.SetSize(640, 480)
window.SetMultiSamples(0)
window.SetAlphaBitPlanes(1)
renderer = vtk.vtkRenderer()
renderer.SetBackground(0.10, 0.12, 0.17)
renderer.SetBackground2(0.35, 0.42, 0.55)
renderer.GradientBackgroundOn()
renderer.SetUseDepthPeeling(True)
renderer.SetMaximumNumberOfPeels(8)
window.AddRenderer(renderer)

# A height field with colours by height, and its contour lines.
plane = vtk.vtkPlaneSource()
plane.SetOrigin(-3, -3, 0)
plane.SetPoint1(3, -3, 0)
plane.SetPoint2(-3, 3, 0)
plane.SetResolution(80, 80)
plane.Update()
surface = vtk.vtkPolyData()
surface.DeepCopy(plane.GetOutput())
points = vtk_to_numpy(surface.GetPoints().GetData()).copy()
r = np.hypot(points[:, 0], points[:, 1])
points[:, 2] = np.cos(3 * r) * np.exp(-0.5 * r) - 0.8
surface.GetPoints().SetData(numpy_to_vtk(points, deep=1))
heights = numpy_to_vtk(points[:, 2].astype("f4"), deep=1)
heights.SetName("height")
surface.GetPointData().SetScalars(heights)
producer = vtk.vtkTrivialProducer()
producer.SetOutput(surface)
normals = vtk.vtkPolyDataNormals()
normals.SetInputConnection(producer.GetOutputPort())
field = actor(normals, None)
field.GetMapper().SetScalarRange(-1.1, 0.2)
field.GetMapper().SetInterpolateScalarsBeforeMapping(True)
renderer.AddActor(field)
lines = vtk.vtkContourFilter()
lines.SetInputConnection(producer.GetOutputPort())
lines.GenerateValues(7, -1.0, 0.1)
renderer.AddActor(actor(lines, (1, 1, 1), LineWidth=1.0, Lighting=False))

# Arrows over the field: instanced glyphs.
some = vtk.vtkMaskPoints()
some.SetInputConnection(normals.GetOutputPort())
some.SetOnRatio(163)
arrow = vtk.vtkArrowSource()
arrow.SetTipResolution(16)
arrow.SetShaftResolution(12)
glyphs = vtk.vtkGlyph3DMapper()
glyphs.SetInputConnection(some.GetOutputPort())
glyphs.SetSourceConnection(arrow.GetOutputPort())
glyphs.SetOrientationArray("Normals")
glyphs.SetScaleFactor(0.5)
glyphs.ScalarVisibilityOff()
arrows = vtk.vtkActor()
arrows.SetMapper(glyphs)
arrows.GetProperty().SetColor(0.95, 0.85, 0.4)
renderer.AddActor(arrows)

# A metallic ball, two translucent balls that go through each other, a wire frame.
ball = vtk.vtkSphereSource()
ball.SetCenter(1.6, -1.6, 0.5)
ball.SetRadius(0.55)
ball.SetThetaResolution(48)
ball.SetPhiResolution(32)
metal = actor(ball, (0.95, 0.64, 0.45), Metallic=0.6, Roughness=0.35)
metal.GetProperty().SetInterpolationToPBR()
renderer.AddActor(metal)
for x, color in ((-1.9, (0.3, 0.8, 0.9)), (-1.4, (0.9, 0.4, 0.7))):
    glass = vtk.vtkSphereSource()
    glass.SetCenter(x, -1.4, 0.5)
    glass.SetRadius(0.5)
    glass.SetThetaResolution(36)
    glass.SetPhiResolution(24)
    renderer.AddActor(actor(glass, color, Opacity=0.45))
cage = vtk.vtkSphereSource()
cage.SetCenter(1.7, 1.7, 0.6)
cage.SetRadius(0.6)
wire = actor(cage, (0.7, 0.95, 0.6), Lighting=False)
wire.GetProperty().SetRepresentationToWireframe()
renderer.AddActor(wire)

# A volume: ray casting through a 3-D texture.
n = 40
z, y, x = np.mgrid[-1:1:1j * n, -1:1:1j * n, -1:1:1j * n]
density = np.clip(1.2 - np.abs(np.sqrt((np.hypot(x, y) - 0.6) ** 2 + z**2) - 0.2) * 6, 0, 1)
image = vtk.vtkImageData()
image.SetDimensions(n, n, n)
image.SetSpacing(2 / (n - 1), 2 / (n - 1), 2 / (n - 1))
image.SetOrigin(-2.7, 0.8, 0.1)
image.GetPointData().SetScalars(numpy_to_vtk((density * 255).astype("u1").ravel(), deep=1))
volume_mapper = vtk.vtkGPUVolumeRayCastMapper()
volume_mapper.SetInputData(image)
volume_mapper.SetUseJittering(False)
volume = vtk.vtkVolume()
volume.SetMapper(volume_mapper)
opacity = vtk.vtkPiecewiseFunction()
opacity.AddPoint(30, 0.0)
opacity.AddPoint(255, 0.5)
tint = vtk.vtkColorTransferFunction()
tint.AddRGBPoint(0, 0.1, 0.2, 0.6)
tint.AddRGBPoint(255, 1.0, 0.8, 0.5)
volume.GetProperty().SetScalarOpacity(opacity)
volume.GetProperty().SetColor(tint)
volume.GetProperty().SetInterpolationTypeToLinear()
volume.GetProperty().ShadeOn()
renderer.AddVolume(volume)

camera = renderer.GetActiveCamera()
camera.SetPosition(3.5, -8.5, 5.5)
camera.SetFocalPoint(0, 0, -0.1)
camera.SetViewUp(0, 0, 1)
camera.SetViewAngle(36)
renderer.ResetCameraClippingRange()
window.Render()
about = dict(
    line.split(":", 1) for line in window.ReportCapabilities().splitlines() if line.startswith("OpenGL") and ":" in line
)
pictures.report(about["OpenGL renderer string"].strip(), about["OpenGL version string"].strip())
grab = vtk.vtkWindowToImageFilter()
grab.SetInput(window)
grab.ReadFrontBufferOff()
grab.Update()
shot = grab.GetOutput()
width, height, _ = shot.GetDimensions()
pictures.save(vtk_to_numpy(shot.GetPointData().GetScalars()).reshape(height, width, -1), bottom_up=True)
