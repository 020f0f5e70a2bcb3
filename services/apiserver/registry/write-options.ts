/** What a request asks of a write besides its object. */
export type WriteOptions = {
  /** Field manager for `managedFields`. */
  manager: string
  /** The object comes from server-side apply, with its `managedFields`. */
  isApply?: boolean
  /** Everything but the storing. */
  dryRun?: boolean
}
