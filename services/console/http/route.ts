import type { z } from 'zod'
import { Problem } from './problem.ts'

/** One query parameter. */
export type Parameter =
  | { type: 'text'; description: string; default?: string; oneOf?: readonly string[]; isRequired?: true }
  | { type: 'whole'; description: string; default?: number; least: number; most: number; isRequired?: true }
  /** In ms since the epoch, with or without fractions. */
  | { type: 'time'; description: string; default?: undefined; isRequired?: true }

/** What a route is asked: parameters of its path, and of its query as they are declared, with their defaults. */
export type Asked = {
  path: Record<string, string>
  text: (name: string) => string | undefined
  /** A whole number or a time; not a number where it is absent and has no default. */
  number: (name: string) => number
  signal: AbortSignal
}

/** Sends one event to whoever listens. */
export type Send = (event: string, data: unknown) => void

type Common = {
  /** Segments in braces are parameters. */
  path: string
  summary: string
  query?: Readonly<Record<string, Parameter>>
  /** Reads much of the log, or asks the clusters: only some at the same time. */
  isHeavy?: true
}

/** One path of the API. */
export type Route =
  | (Common & {
      kind: 'answer'
      method: 'GET' | 'POST'
      needsOperator?: true
      answer: z.ZodType
      handle(asked: Asked): Promise<unknown>
    })
  | (Common & {
      kind: 'events'
      method: 'GET'
      events: Readonly<Record<string, z.ZodType>>
      stream(asked: Asked, send: Send): Promise<void>
    })

/** The route that a request is for, with the parameters of its path. @throws Problem 404, 405 */
export function matchRoute(
  routes: readonly Route[],
  method: string,
  pathname: string,
): { route: Route; path: Record<string, string> } {
  const segments = pathname.split('/')
  const allowed: string[] = []
  for (const route of routes) {
    const path = pathParameters(route.path.split('/'), segments)
    if (path === undefined) continue
    if (route.method === method) return { route, path }
    allowed.push(route.method)
  }
  if (allowed.length > 0) throw new Problem(405, 'MethodNotAllowed', `only ${allowed.join(', ')} is allowed here`)
  throw new Problem(404, 'NoSuchPath', 'there is nothing under this path: /openapi.json lists what there is')
}

function pathParameters(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) {
      if (part !== segment) return undefined
      continue
    }
    if (segment === '') return undefined
    try {
      found[name] = decodeURIComponent(segment)
    } catch {
      throw new Problem(400, 'BadPath', `"${segment}" is no encoded text`)
    }
  }
  return found
}

/**
 * The query of a request, held to what the route declares.
 * @throws Problem 400 naming the parameter
 */
export function readQuery(route: Route, search: URLSearchParams): Pick<Asked, 'text' | 'number'> {
  const declared = route.query ?? {}
  const values = new Map<string, string | number>()
  for (const name of search.keys()) {
    if (!Object.hasOwn(declared, name)) {
      throw new Problem(400, 'UnknownParameter', `"${name}" is no parameter here: ${Object.keys(declared).join(', ')}`)
    }
  }
  for (const [name, parameter] of Object.entries(declared)) {
    const given = search.get(name) ?? ''
    if (given === '') {
      if (parameter.isRequired) throw new Problem(400, 'BadParameter', `${name}: is missing`)
      if (parameter.default !== undefined) values.set(name, parameter.default)
    } else values.set(name, parsed(name, given, parameter))
  }
  return {
    text: (name) => values.get(name)?.toString(),
    number: (name) => Number(values.get(name)),
  }
}

function parsed(name: string, given: string, parameter: Parameter): string | number {
  if (parameter.type === 'text') {
    const { oneOf } = parameter
    if (given.length > 300) throw new Problem(400, 'BadParameter', `${name}: is too long`)
    if (oneOf === undefined || oneOf.includes(given)) return given
    throw new Problem(400, 'BadParameter', `${name}: must be one of ${oneOf.join(', ')}`)
  }
  const value = Number(given)
  if (parameter.type === 'time') {
    if (/^\d{1,15}(\.\d{1,6})?$/.test(given)) return value
    throw new Problem(400, 'BadParameter', `${name}: must be a time in milliseconds since the epoch`)
  }
  const { least, most } = parameter
  if (/^\d+$/.test(given) && value >= least && value <= most) return value
  throw new Problem(400, 'BadParameter', `${name}: must be a whole number from ${least} to ${most}`)
}
