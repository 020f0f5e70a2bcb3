import { ApiError } from '../api-error.ts'
import type { FieldProblem } from '../api-error.ts'

/** Parameters of lists and watches. */
export type ListOptions = {
  labelSelector: string
  fieldSelector: string
  limit: number
  continue: string
  /** As given; empty when absent. */
  resourceVersion: string
  match: '' | 'Exact' | 'NotOlderThan'
  watch: boolean
  allowWatchBookmarks: boolean
  sendInitialEvents: boolean | undefined
  timeoutSeconds: number | undefined
}

/** @throws ApiError 400 or 422 */
export function parseListOptions(query: URLSearchParams, isWatch: boolean): ListOptions {
  checkTimeout(query.get('timeout'))
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: intParam(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    match: (query.get('resourceVersionMatch') ?? '') as ListOptions['match'],
    watch: isWatch,
    allowWatchBookmarks: boolParam(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: boolParam(query, 'sendInitialEvents'),
    timeoutSeconds: intParam(query, 'timeoutSeconds'),
  }
  const problems = isWatch ? watchProblems(options) : listProblems(options)
  if (problems.length > 0) throw ApiError.invalidOptions('ListOptions', problems)
  return options
}

const forbidden = (message: string, field = 'resourceVersionMatch'): FieldProblem => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${message}`,
})

const unsupported = (match: string, supported: string): FieldProblem => ({
  reason: 'FieldValueNotSupported',
  field: 'resourceVersionMatch',
  message: `Unsupported value: ${JSON.stringify(match)}: supported values: ${supported}`,
})

function listProblems(options: ListOptions): FieldProblem[] {
  const { match, resourceVersion } = options
  const problems: FieldProblem[] = []
  if (options.sendInitialEvents !== undefined) {
    problems.push(forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents'))
  }
  if (match === '') return problems
  if (resourceVersion === '') {
    problems.push(forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if (options.continue !== '') problems.push(forbidden('resourceVersionMatch is forbidden when continue is provided'))
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    problems.push(unsupported(match, '"Exact", "NotOlderThan", ""'))
  } else if (match === 'Exact' && resourceVersion === '0') {
    problems.push(forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  return problems
}

function watchProblems(options: ListOptions): FieldProblem[] {
  const { match, sendInitialEvents } = options
  const problems: FieldProblem[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    problems.push(forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match === '') return problems
  if (sendInitialEvents === undefined) {
    problems.push(forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  }
  if (match !== 'NotOlderThan') problems.push(unsupported(match, '"NotOlderThan"'))
  if (options.continue !== '') problems.push(forbidden('resourceVersionMatch is forbidden when continue is provided'))
  return problems
}

/** A whole number, or `undefined` when the parameter is absent. @throws ApiError 400 */
export function intParam(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^[+-]?\d+$/.test(text)) return Number(text)
  throw ApiError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
}

/** As Kubernetes reads booleans: everything but `false` and `0` is true. */
export function boolParam(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  return text !== 'false' && text !== '0'
}

function checkTimeout(text: string | null): void {
  if (text === null || text === '' || /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(text)) return
  throw ApiError.badRequest(
    `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`,
  )
}

/** A resourceVersion as a number, 0 when it is absent. @throws the error that `wrong` makes of the problem's text */
export function revisionParam(text: string, wrong: (problem: string) => ApiError): number {
  if (text === '') return 0
  if (/^\d+$/.test(text)) return Number(text)
  throw wrong(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  )
}
