//! Just enough linear algebra for the demo: column-major 4 × 4 matrices and 3-vectors.

/// A 3-vector.
pub type Vec3 = [f32; 3];
/// A column-major matrix, as GL takes it.
pub type Mat4 = [[f32; 4]; 4];

/// The product `a * b`.
pub fn mul(a: &Mat4, b: &Mat4) -> Mat4 {
    let mut m = [[0.0; 4]; 4];
    for (column, b) in m.iter_mut().zip(b) {
        for (row, cell) in column.iter_mut().enumerate() {
            *cell = (0..4).map(|k| a[k][row] * b[k]).sum();
        }
    }
    m
}

/// A translation.
pub fn translation(v: Vec3) -> Mat4 {
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [v[0], v[1], v[2], 1.0]]
}

/// A scale along the axes.
pub fn scale(v: Vec3) -> Mat4 {
    [[v[0], 0.0, 0.0, 0.0], [0.0, v[1], 0.0, 0.0], [0.0, 0.0, v[2], 0.0], [0.0, 0.0, 0.0, 1.0]]
}

/// A rotation by `angle` radians about a unit axis.
pub fn rotation(axis: Vec3, angle: f32) -> Mat4 {
    let (s, c) = angle.sin_cos();
    let [x, y, z] = axis;
    let k = 1.0 - c;
    [
        [c + x * x * k, y * x * k + z * s, z * x * k - y * s, 0.0],
        [x * y * k - z * s, c + y * y * k, z * y * k + x * s, 0.0],
        [x * z * k + y * s, y * z * k - x * s, c + z * z * k, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

/// A perspective projection with GL's depth range; `fov` is the vertical angle in radians.
pub fn perspective(fov: f32, aspect: f32, near: f32, far: f32) -> Mat4 {
    let f = 1.0 / (fov / 2.0).tan();
    let d = near - far;
    [
        [f / aspect, 0.0, 0.0, 0.0],
        [0.0, f, 0.0, 0.0],
        [0.0, 0.0, (far + near) / d, -1.0],
        [0.0, 0.0, 2.0 * far * near / d, 0.0],
    ]
}

/// An orthographic projection of the box ±`x`, ±`y`, `near` to `far`.
pub fn orthographic(x: f32, y: f32, near: f32, far: f32) -> Mat4 {
    let d = near - far;
    [[1.0 / x, 0.0, 0.0, 0.0], [0.0, 1.0 / y, 0.0, 0.0], [0.0, 0.0, 2.0 / d, 0.0], [0.0, 0.0, (far + near) / d, 1.0]]
}

/// The view from `eye` towards `target` with y upwards.
pub fn look_at(eye: Vec3, target: Vec3) -> Mat4 {
    let f = normalize(sub(target, eye));
    let s = normalize(cross(f, [0.0, 1.0, 0.0]));
    let u = cross(s, f);
    [
        [s[0], u[0], -f[0], 0.0],
        [s[1], u[1], -f[1], 0.0],
        [s[2], u[2], -f[2], 0.0],
        [-dot(s, eye), -dot(u, eye), dot(f, eye), 1.0],
    ]
}

/// The difference `a - b`.
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The cross product.
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The dot product.
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector at length 1.
pub fn normalize(a: Vec3) -> Vec3 {
    let l = dot(a, a).sqrt().max(1e-20);
    [a[0] / l, a[1] / l, a[2] / l]
}
