"""Qt 6: a QOpenGLWidget beside a label. The system's Python has to run it (Debian package python3-pyqt6)."""

import signal
import sys

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QSurfaceFormat
from PyQt6.QtOpenGLWidgets import QOpenGLWidget
from PyQt6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget

from scene import Scene

surface = QSurfaceFormat()
surface.setVersion(3, 3)
surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
surface.setDepthBufferSize(24)
# Mesa has smaller ones on Wayland, which come first where nothing is said.
surface.setRedBufferSize(8)
surface.setGreenBufferSize(8)
surface.setBlueBufferSize(8)
QSurfaceFormat.setDefaultFormat(surface)


class View(QOpenGLWidget):
    def initializeGL(self):
        context = self.context()
        self.scene = Scene(lambda name: int(context.getProcAddress(name.encode())))
        print(self.scene.renderer(), flush=True)

    def paintGL(self):
        self.scene.draw(self.width(), self.height())


application = QApplication(sys.argv)
window = QWidget()
window.setWindowTitle("qt6")
layout = QVBoxLayout(window)
label = QLabel("a widget that draws itself, above one that OpenGL draws")
layout.addWidget(label)
layout.addWidget(View(), stretch=1)
window.resize(400, 300)
window.show()
signal.signal(signal.SIGTERM, lambda *_: window.close())
# Python sees signals only while it runs.
ticks = QTimer()
ticks.timeout.connect(lambda: None)
ticks.start(100)
sys.exit(application.exec())
