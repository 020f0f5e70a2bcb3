/** What a request asks of a write besides its object. */
export type WriteOptions = {
  /** Field manager for `managedFields`. */
  manager: string
  /** Everything but the storing. */
  dryRun?: boolean
}
