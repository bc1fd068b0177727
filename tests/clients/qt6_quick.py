"""Qt 6: a scene of Qt Quick, which Qt's own renderer draws with OpenGL. The system's Python has to run it (Debian packages
python3-pyqt6.qtquick and qml6-module-qtquick)."""

import os
import signal
import sys

# Qt says which driver it found where it is told to.
os.environ.update(QSG_RHI_BACKEND="opengl", QT_LOGGING_RULES="qt.rhi.general=true")

from PyQt6.QtCore import QTimer, QUrl
from PyQt6.QtGui import QGuiApplication, QSurfaceFormat
from PyQt6.QtQml import QQmlComponent, QQmlEngine
from PyQt6.QtQuick import QQuickWindow, QSGRendererInterface

SCENE = b"""
import QtQuick
Window {
    width: 400; height: 300; visible: true; title: "quick"; color: "#204060"
    Rectangle {
        anchors.fill: parent; anchors.margins: 30; radius: 12; border.width: 3; border.color: "white"
        gradient: Gradient {
            GradientStop { position: 0; color: "red" }
            GradientStop { position: 1; color: "yellow" }
        }
        Rectangle { anchors.centerIn: parent; width: 120; height: 80; rotation: 30; color: "#8000ff00"; antialiasing: true }
        Item {
            width: 90; height: 60; clip: true; layer.enabled: true
            Rectangle { x: 40; y: 20; width: 100; height: 100; radius: 50; color: "blue" }
        }
        Text { anchors.bottom: parent.bottom; text: "text of a scene graph"; font.pixelSize: 20 }
    }
}
"""

surface = QSurfaceFormat()
surface.setVersion(3, 3)
surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
# Mesa has smaller ones on Wayland, which come first where nothing is said.
surface.setRedBufferSize(8)
surface.setGreenBufferSize(8)
surface.setBlueBufferSize(8)
QSurfaceFormat.setDefaultFormat(surface)
application = QGuiApplication(sys.argv)
QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.OpenGL)
engine = QQmlEngine()
component = QQmlComponent(engine)
component.setData(SCENE, QUrl())
window = component.create()
if window is None:
    sys.exit("\n".join(error.toString() for error in component.errors()))
signal.signal(signal.SIGTERM, lambda *_: window.close())
# Python sees signals only while it runs.
ticks = QTimer()
ticks.timeout.connect(lambda: None)
ticks.start(100)
sys.exit(application.exec())
