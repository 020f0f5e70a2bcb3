import { parse } from 'yaml'
import { ApiError } from '../api-error.ts'
import { decodeProtobuf } from '../protobuf/decode-protobuf.ts'
import { MEDIA_TYPES } from './negotiate.ts'
import type { Exchange } from './exchange.ts'

/** As kube-apiserver limits requests. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024

/** Reads the whole body. @throws ApiError 413 */
export async function readBody(exchange: Exchange): Promise<Buffer> {
  const declared = Number(exchange.header('content-length') ?? 0)
  if (declared > BODY_LIMIT_BYTES) {
    exchange.request.resume()
    throw ApiError.tooLarge(BODY_LIMIT_BYTES)
  }
  const parts: Buffer[] = []
  let size = 0
  for await (const part of exchange.request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > BODY_LIMIT_BYTES) throw ApiError.tooLarge(BODY_LIMIT_BYTES)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The media type of the body without parameters; empty when none is given. */
export function bodyType(exchange: Exchange): string {
  return (exchange.header('content-type') ?? '').split(';')[0]?.trim() ?? ''
}

/**
 * Parses a body that should be an object of some kind.
 * @param kind for messages
 * @throws ApiError 400 or 415
 */
export function parseObject(exchange: Exchange, body: Buffer, kind: string): Record<string, unknown> {
  const type = bodyType(exchange)
  if (type === 'application/vnd.kubernetes.protobuf') return parseProtobuf(body)
  const text = body.toString()
  if (type === 'application/yaml') return requireObject(parseYaml(text, kind), text, kind)
  if (type !== '' && type !== 'application/json') throw ApiError.unsupportedMediaType(MEDIA_TYPES)
  return requireObject(parseJson(text, kind), text, kind)
}

function parseProtobuf(body: Buffer): Record<string, unknown> {
  try {
    return decodeProtobuf(body)
  } catch (error) {
    throw ApiError.badRequest(error instanceof Error ? error.message : String(error))
  }
}

function parseJson(text: string, kind: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unrecognized(kind, text, jsonErrorText(error, text))
  }
}

function parseYaml(text: string, kind: string): unknown {
  try {
    // YAML 1.1 as in Go: `y`, `on` and the like are booleans.
    return parse(text, { version: '1.1' })
  } catch (error) {
    throw unrecognized(kind, text, error instanceof Error ? error.message : String(error))
  }
}

function requireObject(value: unknown, text: string, kind: string): Record<string, unknown> {
  if (value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw unrecognized(
    kind,
    text,
    `json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}

function unrecognized(kind: string, text: string, problem: string): ApiError {
  return ApiError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${problem} (${summary(text)})`,
  )
}

function summary(text: string): string {
  if (text === '') return '<empty>'
  if (text.startsWith('{')) return text.length > 30 ? `${text.slice(0, 30)} ...` : text
  const hex = Buffer.from(text).toString('hex')
  return hex.length > 30 ? `${hex.slice(0, 30)} ...` : hex
}

/** A JSON error in the words of Go's decoder, as clients know it. */
export function jsonErrorText(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error)
  if (text.trim() === '' || /Unexpected end|Unterminated/.test(message) || isCutOff(message, text)) {
    return 'unexpected end of JSON input'
  }
  const token = /token '?(.)/.exec(message)?.[1]
  const given = /at position (\d+)/.exec(message)?.[1]
  // Short texts are quoted in the message instead of a position.
  const position = given === undefined ? text.indexOf(token ?? text) : Number(given)
  const literal = brokenLiteral(text, position)
  if (literal !== undefined) return literal
  const character = text[position] ?? token ?? text[0]
  const place = /property name/.test(message)
    ? 'looking for beginning of object key string'
    : 'looking for beginning of value'
  return `invalid character '${character ?? ''}' ${place}`
}

/** Go names the literal that a wrong character breaks. */
function brokenLiteral(text: string, position: number): string | undefined {
  for (const literal of ['null', 'true', 'false']) {
    for (let length = literal.length - 1; length > 0; length--) {
      if (!text.slice(0, position).endsWith(literal.slice(0, length))) continue
      return `invalid character '${text[position] ?? ''}' in literal ${literal} (expecting '${literal[length] ?? ''}')`
    }
  }
  return undefined
}

const isCutOff = (message: string, text: string): boolean =>
  Number(/at position (\d+)/.exec(message)?.[1] ?? -1) >= text.length
