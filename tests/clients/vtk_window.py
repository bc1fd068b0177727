"""VTK: an interactive window through GLX with a cone."""

import sys

import vtk

cone = vtk.vtkConeSource(resolution=24)
mapper = vtk.vtkPolyDataMapper()
mapper.SetInputConnection(cone.GetOutputPort())
actor = vtk.vtkActor()
actor.SetMapper(mapper)
actor.GetProperty().SetColor(0.9, 0.6, 0.2)
actor.RotateZ(30)
renderer = vtk.vtkRenderer()
renderer.AddActor(actor)
renderer.SetBackground(0.1, 0.2, 0.4)
window = vtk.vtkXOpenGLRenderWindow()
window.SetWindowName("vtk")
window.SetMultiSamples(0)
window.SetSize(400, 300)
window.AddRenderer(renderer)
interactor = vtk.vtkXRenderWindowInteractor()
interactor.SetRenderWindow(window)
window.Render()
print(next(line for line in window.ReportCapabilities().splitlines() if "renderer string" in line), flush=True)
interactor.Start()
window.Finalize()
sys.exit(0)
