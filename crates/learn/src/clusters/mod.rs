//! k-means: its iterations, its first centres, and bounds that save comparisons.

pub(crate) mod bounds;
pub(crate) mod kmeans;
pub(crate) mod lloyd;
pub(crate) mod seeding;
