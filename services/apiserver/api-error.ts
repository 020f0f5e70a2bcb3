import type { JsonObject } from '#libs/kube-model'

/** One thing that is wrong with an object; becomes a cause of the 422 Status. */
export type FieldProblem = {
  /** The cause's reason. */
  reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueNotFound'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'InternalError'
  /** Path of the field, such as `spec.containers[0].name`. */
  field: string
  /** The text after the field, complete: `Required value`, `Invalid value: "x": must be …`. */
  message: string
}

export type StatusCause = { reason?: string; message?: string; field?: string }

type StatusDetails = {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export type Status = {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: JsonObject
  status: 'Failure' | 'Success'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

/** How errors name a resource: `resource` is the plural, `kind` the Kind. */
export type ErrorResource = { group: string; plural: string; kind: string }

type StatusFields = {
  code: number
  reason?: string
  message: string
  details?: StatusDetails
  metadata?: JsonObject
}

const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`)

const detailsOf = (name: string | undefined, group: string, kind: string): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(group === '' ? {} : { group }),
  ...(kind === '' ? {} : { kind }),
})

/** A refusal with the Status object the client gets. Messages and details are those a kube-apiserver sends. */
export class ApiError extends Error {
  readonly status: Status
  /** Value of the Retry-After header, in seconds. */
  readonly retryAfter: number | undefined

  constructor(fields: StatusFields, options: { retryAfter?: number } = {}) {
    super(fields.message)
    this.name = 'ApiError'
    this.retryAfter = options.retryAfter
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: fields.metadata ?? {},
      status: 'Failure',
      message: fields.message,
      ...(fields.reason === undefined ? {} : { reason: fields.reason }),
      ...(fields.details === undefined ? {} : { details: fields.details }),
      code: fields.code,
    }
  }

  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string {
    return this.status.reason ?? ''
  }

  static notFound(resource: Pick<ErrorResource, 'group' | 'plural'>, name: string): ApiError {
    return new ApiError({
      code: 404,
      reason: 'NotFound',
      message: `${qualified(resource.plural, resource.group)} "${name}" not found`,
      details: detailsOf(name, resource.group, resource.plural),
    })
  }

  /** The path names a group version or resource that is not served. */
  static notServed(): ApiError {
    return new ApiError({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    })
  }

  static alreadyExists(resource: ErrorResource, name: string, isDeleting = false): ApiError {
    const text = `${qualified(resource.plural, resource.group)} "${name}" already exists`
    return new ApiError({
      code: 409,
      reason: 'AlreadyExists',
      message: isDeleting ? `object is being deleted: ${text}` : text,
      details: detailsOf(name, resource.group, resource.plural),
    })
  }

  /** `problem` is what follows the colon. */
  static conflict(resource: Pick<ErrorResource, 'group' | 'plural'>, name: string, problem: string): ApiError {
    return new ApiError({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} "${name}": ${problem}`,
      details: detailsOf(name, resource.group, resource.plural),
    })
  }

  /** The resourceVersion of an update is not the stored one. */
  static staleVersion(resource: Pick<ErrorResource, 'group' | 'plural'>, name: string): ApiError {
    return ApiError.conflict(
      resource,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    )
  }

  /** Validation failed: one cause per problem. */
  static invalid(
    kind: Pick<ErrorResource, 'group' | 'kind'>,
    name: string,
    problems: readonly FieldProblem[],
  ): ApiError {
    // Problems of the object as a whole are shown with an empty path.
    const causes = problems.map(({ reason, message, field }) => ({ reason, message, field: field || '[]' }))
    const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))]
    const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
    return new ApiError({
      code: 422,
      reason: 'Invalid',
      message: `${qualified(kind.kind, kind.group)} "${name}" is invalid${texts.length === 0 ? '' : `: ${list}`}`,
      details: {
        ...detailsOf(name, kind.group, kind.kind),
        ...(causes.length === 0 ? {} : { causes }),
      },
    })
  }

  /** Options of a request (`ListOptions`, `DeleteOptions`, `PatchOptions` …) are wrong. */
  static invalidOptions(kind: string, problems: readonly FieldProblem[]): ApiError {
    return ApiError.invalid({ group: 'meta.k8s.io', kind }, '', problems)
  }

  static badRequest(message: string): ApiError {
    return new ApiError({ code: 400, reason: 'BadRequest', message })
  }

  static unauthorized(): ApiError {
    return new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
  }

  /** A refusal by admission: `RES "NAME" is forbidden: problem`. */
  static forbidden(
    resource: Pick<ErrorResource, 'group' | 'plural'>,
    name: string,
    problem: string,
    causes?: StatusCause[],
  ): ApiError {
    const res = qualified(resource.plural, resource.group)
    return new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `${res}${name === '' ? '' : ` "${name}"`} is forbidden: ${problem}`,
      details: { ...detailsOf(name, resource.group, resource.plural), ...(causes === undefined ? {} : { causes }) },
    })
  }

  /** `User` may not use a path that is not a resource. */
  static forbiddenPath(user: string, verb: string, path: string): ApiError {
    return new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User "${user}" cannot ${verb} path "${path}"`,
      details: {},
    })
  }

  static methodNotAllowed(): ApiError {
    return new ApiError({
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    })
  }

  /** Objects of a kind whose definition is being deleted are not made any more. */
  static terminatingKind(resource: Pick<ErrorResource, 'group' | 'plural'>): ApiError {
    return new ApiError({
      code: 405,
      reason: 'MethodNotAllowed',
      message: `create not allowed while custom resource definition is terminating`,
      details: detailsOf(undefined, resource.group, resource.plural),
    })
  }

  /** None of the formats that the client accepts is served. */
  static notAcceptable(accepted: readonly string[]): ApiError {
    return new ApiError({
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${accepted.join(', ')}`,
      details: {},
    })
  }

  /** The client accepts a served format, but only in a shape (`as=`) that is not. */
  static shapeNotAcceptable(accepted: readonly string[]): ApiError {
    return new ApiError({
      code: 406,
      reason: 'NotAcceptable',
      message: `only the following media types are accepted: ${accepted.join(', ')}`,
    })
  }

  /** @param accepted absent: the route itself refuses the type, as PATCH does */
  static unsupportedMediaType(accepted?: readonly string[]): ApiError {
    if (accepted === undefined) {
      return new ApiError({
        code: 415,
        reason: 'UnsupportedMediaType',
        message: '415: Unsupported Media Type',
        details: {},
      })
    }
    return new ApiError({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    })
  }

  /** The revision is not in the event log any more: a watch that starts there would miss events. */
  static expired(message: string, metadata?: JsonObject): ApiError {
    return new ApiError({ code: 410, reason: 'Expired', message, ...(metadata === undefined ? {} : { metadata }) })
  }

  static tooLarge(limitBytes: number): ApiError {
    return new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${limitBytes}`,
    })
  }

  /** A patch that cannot be applied to the object. */
  static unprocessable(): ApiError {
    return new ApiError({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    })
  }

  static tooManyRequests(message: string, options: { causes?: StatusCause[]; retryAfter?: number } = {}): ApiError {
    return new ApiError(
      {
        code: 429,
        reason: 'TooManyRequests',
        message,
        details: {
          ...(options.causes === undefined ? {} : { causes: options.causes }),
          ...(options.retryAfter === undefined ? {} : { retryAfterSeconds: options.retryAfter }),
        },
      },
      options.retryAfter === undefined ? {} : { retryAfter: options.retryAfter },
    )
  }

  /** The client knows a newer revision than the server. */
  static versionTooLarge(asked: string, current: string): ApiError {
    return new ApiError(
      {
        code: 504,
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      },
      { retryAfter: 1 },
    )
  }

  /** A server-side failure, or a client error that the upstream server leaves unclassified. */
  static internal(message: string): ApiError {
    return new ApiError({ code: 500, message })
  }
}
