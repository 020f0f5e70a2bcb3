import { ApiError } from '../api-error.ts'
import type { DeleteRequest } from '../registry/delete.ts'
import type { WriteOptions } from '../registry/write-options.ts'
import { parseObject } from './body.ts'
import type { Exchange } from './exchange.ts'
import { boolParam, intParam } from './list-options.ts'

const DELETE_SCHEME = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'
const POLICIES = ['Foreground', 'Background', 'Orphan']
const MANAGER_LIMIT = 128

/** @param kind `CreateOptions`, `UpdateOptions` or `PatchOptions`. @throws ApiError 422 */
export function parseWriteOptions(exchange: Exchange, kind: string): WriteOptions {
  const { query } = exchange
  const manager = query.get('fieldManager') ?? ''
  if (manager.length > MANAGER_LIMIT) {
    throw ApiError.invalidOptions(kind, [
      {
        reason: 'FieldValueTooLong',
        field: 'fieldManager',
        message: `Too long: may not be more than ${MANAGER_LIMIT} bytes`,
      },
    ])
  }
  const validation = query.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation)) {
    throw ApiError.invalidOptions(kind, [
      {
        reason: 'FieldValueNotSupported',
        field: 'fieldValidation',
        message: `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
      },
    ])
  }
  return {
    manager: manager === '' ? userAgentManager(exchange) : manager,
    dryRun: isDryRun(exchange.query.getAll('dryRun'), kind),
  }
}

/** Without a field manager the client's program name is used. */
function userAgentManager(exchange: Exchange): string {
  return (exchange.header('user-agent') ?? '').split('/')[0]?.slice(0, MANAGER_LIMIT) || 'unknown'
}

function isDryRun(asked: readonly string[], kind: string): boolean {
  const values = asked.filter((value) => value !== '')
  if (values.length === 0) return false
  if (values.every((value) => value === 'All')) return true
  throw ApiError.invalidOptions(kind, [
    {
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
      message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
    },
  ])
}

type DeleteBody = {
  apiVersion?: string
  kind?: string
  gracePeriodSeconds?: number
  orphanDependents?: boolean
  propagationPolicy?: string
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}

/** Options of a deletion, from the body if there is one, else from the query. @throws ApiError 400 or 422 */
export function parseDeleteOptions(exchange: Exchange, body: Buffer): DeleteRequest {
  if (body.length > 0) return checkDelete(parseObject(exchange, body, 'DeleteOptions') as DeleteBody)
  const { query } = exchange
  const gracePeriodSeconds = intParam(query, 'gracePeriodSeconds')
  const orphanDependents = boolParam(query, 'orphanDependents')
  const propagationPolicy = query.get('propagationPolicy')
  return checkDelete({
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    dryRun: query.getAll('dryRun'),
  })
}

/** Checks a DeleteOptions object. @throws ApiError 400 or 422 */
export function checkDelete(body: DeleteBody): DeleteRequest {
  const { kind, apiVersion = 'v1', gracePeriodSeconds, orphanDependents, propagationPolicy, preconditions } = body
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw ApiError.badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(DELETE_SCHEME)}`,
    )
  }
  checkPolicy(propagationPolicy, orphanDependents)
  return {
    dryRun: isDryRun(body.dryRun ?? [], 'DeleteOptions'),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(typeof orphanDependents === 'boolean' ? { orphanDependents } : {}),
    ...(propagationPolicy ? { propagationPolicy: propagationPolicy as 'Background' } : {}),
    ...(preconditions?.uid === undefined ? {} : { uid: preconditions.uid }),
    ...(preconditions?.resourceVersion === undefined ? {} : { resourceVersion: preconditions.resourceVersion }),
  }
}

function checkPolicy(policy: string | undefined, orphanDependents: boolean | undefined): void {
  if (!policy) return
  if (orphanDependents !== undefined) {
    throw ApiError.invalidOptions('DeleteOptions', [
      {
        reason: 'FieldValueInvalid',
        field: 'propagationPolicy',
        message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      },
    ])
  }
  if (POLICIES.includes(policy)) return
  throw ApiError.invalidOptions('DeleteOptions', [
    {
      reason: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: ${[...POLICIES, 'nil'].map((text) => JSON.stringify(text)).join(', ')}`,
    },
  ])
}
