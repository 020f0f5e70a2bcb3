import { jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { goSyntaxProblem } from '../patch/json-syntax.ts'
import { asObject, asString } from '../schema/json-shape.ts'
import { forbidden, immutable, invalid, invalidAll, required, tooLong } from './field-problem.ts'
import { configKeyProblems } from './names.ts'
import type { KindRules } from './strategy.ts'

const MAX_BYTES = 1024 * 1024
const IMMUTABLE = 'field is immutable when `immutable` is set'

/** An object marked `immutable` keeps its content and its mark. */
function frozenFields(next: KubeObject, previous: KubeObject, fields: readonly string[]): FieldProblem[] {
  if (previous['immutable'] !== true) return []
  const problems = next['immutable'] === true ? [] : [forbidden('immutable', IMMUTABLE)]
  for (const field of fields) {
    if (!jsonEqual(next[field] ?? {}, previous[field] ?? {})) problems.push(forbidden(field, IMMUTABLE))
  }
  return problems
}

function keyProblems(object: KubeObject, field: string): FieldProblem[] {
  return Object.keys(asObject(object[field]))
    .sort()
    .flatMap((key) => invalidAll(`${field}[${key}]`, key, configKeyProblems(key)))
}

function sizeProblems(field: string, bytes: number): FieldProblem[] {
  return bytes > MAX_BYTES ? [tooLong(field, MAX_BYTES)] : []
}

const base64Bytes = (value: unknown): number => Buffer.byteLength(asString(value), 'base64')

export const CONFIG_MAP_RULES: KindRules = {
  validate: (object) => {
    const data = asObject(object['data'])
    const binary = asObject(object['binaryData'])
    const problems: FieldProblem[] = []
    for (const key of Object.keys(data).sort()) {
      const field = `data[${key}]`
      problems.push(...invalidAll(field, key, configKeyProblems(key)))
      if (Object.hasOwn(binary, key)) problems.push(invalid(field, key, 'duplicate of key present in binaryData'))
    }
    problems.push(...keyProblems(object, 'binaryData'))
    let bytes = 0
    for (const value of Object.values(data)) bytes += Buffer.byteLength(asString(value))
    for (const value of Object.values(binary)) bytes += base64Bytes(value)
    return [...problems, ...sizeProblems('', bytes)]
  },
  validateUpdate: (next, previous) => frozenFields(next, previous, ['data', 'binaryData']),
}

const DOCKER_KEYS: Record<string, string> = {
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
  'kubernetes.io/dockercfg': '.dockercfg',
}

function typedProblems(secret: KubeObject): FieldProblem[] {
  const data = asObject(secret['data'])
  const isMissing = (key: string): boolean => !Object.hasOwn(data, key)
  const missing = (key: string): FieldProblem[] => (isMissing(key) ? [required(`data[${key}]`)] : [])
  const type = asString(secret['type'])
  switch (type) {
    case 'kubernetes.io/service-account-token': {
      const annotation = 'kubernetes.io/service-account.name'
      return secret.metadata.annotations?.[annotation] ? [] : [required(`metadata.annotations[${annotation}]`)]
    }
    case 'kubernetes.io/dockerconfigjson':
    case 'kubernetes.io/dockercfg': {
      const key = DOCKER_KEYS[type] ?? ''
      if (isMissing(key)) return missing(key)
      const problem = goSyntaxProblem(Buffer.from(asString(data[key]), 'base64').toString('utf8'))
      return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)]
    }
    case 'kubernetes.io/basic-auth':
      return isMissing('username') && isMissing('password') ? [...missing('username'), ...missing('password')] : []
    case 'kubernetes.io/ssh-auth':
      return missing('ssh-privatekey')
    case 'kubernetes.io/tls':
      return [...missing('tls.crt'), ...missing('tls.key')]
    default:
      return []
  }
}

export const SECRET_RULES: KindRules = {
  validate: (secret) => {
    let bytes = 0
    for (const value of Object.values(asObject(secret['data']))) bytes += base64Bytes(value)
    return [...keyProblems(secret, 'data'), ...sizeProblems('data', bytes), ...typedProblems(secret)]
  },
  validateUpdate: (next, previous) => [
    ...(next['type'] === previous['type'] ? [] : [immutable('type', next['type'] ?? '')]),
    ...frozenFields(next, previous, ['data']),
  ],
}
