//! The demo's shapes: indexed triangle meshes made by formula.

use super::math::{cross, normalize, sub, Vec3};

/// Position, normal and texture coordinates.
pub type Vertex = [f32; 8];

/// An indexed triangle mesh.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three a triangle, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
}

fn vertex(p: Vec3, n: Vec3, u: f32, v: f32) -> Vertex {
    [p[0], p[1], p[2], n[0], n[1], n[2], u, v]
}

/// A grid of `nu` × `nv` cells over the unit square, bent by `shape`.
fn surface(nu: u32, nv: u32, shape: impl Fn(f32, f32) -> Vertex) -> Mesh {
    let mut mesh = Mesh::default();
    for j in 0..=nv {
        for i in 0..=nu {
            mesh.vertices.push(shape(i as f32 / nu as f32, j as f32 / nv as f32));
        }
    }
    for j in 0..nv {
        for i in 0..nu {
            let a = j * (nu + 1) + i;
            let b = a + nu + 1;
            mesh.indices.extend([a, a + 1, b + 1, a, b + 1, b]);
        }
    }
    mesh
}

/// The unit sphere; `detail` divides the number of cells in each direction.
pub fn sphere(detail: u32) -> Mesh {
    surface(64 / detail, 32 / detail, |u, v| {
        let (a, b) = (u * std::f32::consts::TAU, (v - 0.5) * std::f32::consts::PI);
        let n = [a.sin() * b.cos(), b.sin(), a.cos() * b.cos()];
        vertex(n, n, u * 2.0, v)
    })
}

/// A tube of radius 0.27 along the (2, 3) torus knot; `detail` divides the number of cells in each direction.
pub fn knot(detail: u32) -> Mesh {
    let curve = |t: f32| -> Vec3 {
        let r = 1.0 + 0.45 * (3.0 * t).cos();
        [r * (2.0 * t).cos(), 0.6 * (3.0 * t).sin(), r * (2.0 * t).sin()]
    };
    surface(360 / detail, 28 / detail, |u, v| {
        let (t, a) = (u * std::f32::consts::TAU, v * std::f32::consts::TAU);
        let (p, q) = (curve(t), curve(t + 0.01));
        let tangent = normalize(sub(q, p));
        let side = normalize(cross(tangent, [p[0] + q[0], p[1] + q[1], p[2] + q[2]]));
        let up = cross(side, tangent);
        let n = [0, 1, 2].map(|i| side[i] * a.cos() + up[i] * a.sin());
        vertex([0, 1, 2].map(|i| p[i] + 0.27 * n[i]), n, u * 24.0, v * 2.0)
    })
}

/// A cube from -1 to 1 whose edges are bevelled a little, so that they catch the light.
pub fn cube() -> Mesh {
    let mut mesh = Mesh::default();
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0f32), (axis, -1.0)]) {
        let (s, t) = ((axis + 1) % 3, (axis + 2) % 3);
        let face = surface(8, 8, |u, v| {
            // Flip u on negative faces to keep the winding.
            let (a, b) = ((2.0 * u - 1.0) * sign, 2.0 * v - 1.0);
            let mut p = [0.0; 3];
            (p[axis], p[s], p[t]) = (sign, a, b);
            let core = p.map(|c: f32| c.clamp(-0.9, 0.9));
            let n = normalize(sub(p, core));
            vertex([0, 1, 2].map(|i| core[i] + 0.1 * n[i]), n, u, v)
        });
        let base = mesh.vertices.len() as u32;
        mesh.vertices.extend(face.vertices);
        mesh.indices.extend(face.indices.iter().map(|i| i + base));
    }
    mesh
}

/// A cylinder of radius 1 from y = 0 to 1 with a rounded rim, closed at the top.
pub fn pedestal() -> Mesh {
    // The profile as (radius, height, normal outwards, normal upwards).
    let profile = [
        (1.0, 0.0, 1.0, 0.0),
        (1.0, 0.86, 1.0, 0.0),
        (0.985, 0.94, 0.92, 0.38),
        (0.95, 0.985, 0.38, 0.92),
        (0.9, 1.0, 0.0, 1.0),
        (0.0, 1.0, 0.0, 1.0),
    ];
    let n_rings = profile.len() as u32 - 1;
    surface(64, n_rings, |u, v| {
        let a = u * std::f32::consts::TAU;
        let (r, y, out, up): (f32, f32, f32, f32) = profile[(v * n_rings as f32).round() as usize];
        let n = normalize([out * a.sin(), up, out * a.cos()]);
        vertex([r * a.sin(), y, r * a.cos()], n, u * 6.0, y)
    })
}

/// A flat square of ±1 in x and z, facing up.
pub fn plane() -> Mesh {
    surface(1, 1, |u, v| vertex([2.0 * u - 1.0, 0.0, 1.0 - 2.0 * v], [0.0, 1.0, 0.0], u, v))
}
