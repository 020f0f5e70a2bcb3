/** Something wrong with a configuration, and where: `path` is empty for the whole of it. */
export type ConfigProblem = { path: string; message: string }
