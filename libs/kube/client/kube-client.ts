import type { KubeObject, ResourceInfo } from '#libs/kube-model'

/** An object by name; `namespace` is ignored for cluster-scoped resources. */
export type Target = { namespace?: string | undefined; name: string }

/** A body as an object, or as JSON that is sent as it is. */
export type Body = object | string | Uint8Array

/** How a request ended: with an answer, or with the kind of its failure. */
export type RequestEnd = { server?: string; status?: number; error?: string }

export type CallOptions = {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  /** Told when each request of the call begins; what it returns is told how that ended. */
  onRequest?: ((request: { method: string; path: string }) => (end: RequestEnd) => void) | undefined
}

export type Selection = {
  /** @default all namespaces */
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
}

export type ListOptions = CallOptions &
  Selection & {
    /** Objects per page; 0 asks for all at once. @default 500 */
    limit?: number
    /** Where the previous page ended. */
    continueToken?: string | undefined
    /** @default unset: the newest state, never a cached one */
    resourceVersion?: string | undefined
    resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined
  }

export type ListPage = {
  items: KubeObject[]
  resourceVersion: string
  /** Of the next page; undefined on the last. */
  continueToken: string | undefined
}

export type PatchOptions = CallOptions & { type: 'merge' | 'strategic' | 'json'; subresource?: string | undefined }

export type DeleteOptions = CallOptions & {
  /** Precondition: another uid under the name is a conflict. Every delete of ours must have it. */
  uid: string
  resourceVersion?: string | undefined
  gracePeriodSeconds?: number | undefined
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined
}

export type WatchOptions = Selection & {
  /** Events after this version. */
  resourceVersion: string
  /** After this time the server ends the watch. */
  timeoutSeconds: number
  /** Ends the watch. */
  signal: AbortSignal
  /** How long to wait for the headers. */
  timeoutMs?: number | undefined
}

export type RequestOptions = CallOptions & {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the cluster's base URL, without query. */
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: Body | undefined
  /** @default application/json */
  contentType?: string
}

export type KubeClientOptions = {
  /** @default on; off is a way out when a server's HTTP/2 misbehaves */
  http2?: boolean
  /** How long to wait for an answer to start; its body may take as long again. @default 30 s */
  timeoutMs?: number
  /** Larger answers are errors. @default 256 MiB */
  maxBodyBytes?: number
  /** Name of our fields in `managedFields`. @default causeway */
  fieldManager?: string
}

/**
 * Calls to one cluster. Objects are raw JSON: unknown fields survive. All calls throw KubeApiError for failures the
 * server reports, KubeConnectionError when it cannot be reached, and the signal's reason when that aborts.
 */
export type KubeClient = {
  /** Where the cluster's configuration comes from, for messages. */
  readonly source: string
  /** Scheme, host and port that calls go to, as of the last one; undefined before the first. */
  readonly origin: string | undefined
  get(resource: ResourceInfo, target: Target, options?: CallOptions): Promise<KubeObject>
  /** One page; items carry `apiVersion` and `kind`, which lists leave out. */
  listPage(resource: ResourceInfo, options?: ListOptions): Promise<ListPage>
  /** All pages. Throws an expired error (see isExpired) when the continue token grows too old on the way. */
  listPages(resource: ResourceInfo, options?: ListOptions): AsyncGenerator<ListPage, void, void>
  /** With `dryRun` the API does all but store it. */
  create(
    resource: ResourceInfo,
    target: { namespace?: string | undefined },
    body: Body,
    options?: CallOptions & { dryRun?: boolean },
  ): Promise<KubeObject>
  /** PUT; a resourceVersion in the body is the precondition. */
  replace(
    resource: ResourceInfo,
    target: Target,
    body: Body,
    options?: CallOptions & { subresource?: string | undefined },
  ): Promise<KubeObject>
  /** PATCH; `metadata.uid` and `metadata.resourceVersion` in the body are preconditions. */
  patch(resource: ResourceInfo, target: Target, body: Body, options: PatchOptions): Promise<KubeObject>
  /** Answers the object as it was left (with deletionTimestamp when deletion is graceful), or a `Status`. */
  delete(resource: ResourceInfo, target: Target, options: DeleteOptions): Promise<KubeObject>
  /** Assigns a pod to a node; another uid under the name is a conflict. */
  bind(pod: { namespace: string; name: string; uid: string }, node: string, options?: CallOptions): Promise<void>
  /**
   * Opens a watch; resolves when the server accepted it. The bytes are lines of JSON, one per event. The signal must be
   * aborted in the end, even when the bytes are not read.
   */
  watch(resource: ResourceInfo, options: WatchOptions): Promise<AsyncIterable<Buffer>>
  /** Any other call; the answer is parsed JSON, or undefined when it is empty. */
  request(options: RequestOptions): Promise<unknown>
  version(options?: CallOptions): Promise<{ gitVersion: string; major: string; minor: string }>
  /** Tells clusters apart whatever their address: the uid of the namespace `kube-system`. */
  clusterIdentity(options?: CallOptions): Promise<string>
  /** Breaks all requests off and closes the connections. */
  close(): Promise<void>
}
