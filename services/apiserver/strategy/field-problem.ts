import type { FieldProblem } from '../api-error.ts'

/** A value as the API's messages show it: strings quoted, everything else as JSON. */
const shown = (value: unknown): string => JSON.stringify(value ?? null)

export const required = (field: string, detail?: string): FieldProblem => ({
  reason: 'FieldValueRequired',
  field,
  message: detail === undefined ? 'Required value' : `Required value: ${detail}`,
})

export const invalid = (field: string, value: unknown, detail: string): FieldProblem => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${shown(value)}: ${detail}`,
})

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldProblem => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
})

export const duplicate = (field: string, value: unknown): FieldProblem => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${shown(value)}`,
})

export const forbidden = (field: string, detail: string): FieldProblem => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
})

export const notFound = (field: string, value: unknown): FieldProblem => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${shown(value)}`,
})

export const tooLong = (field: string, limit: number): FieldProblem => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${limit} bytes`,
})

export const immutable = (field: string, value: unknown): FieldProblem => invalid(field, value, 'field is immutable')

/** One `Invalid value` per rule that a value breaks. */
export const invalidAll = (field: string, value: unknown, details: readonly string[]): FieldProblem[] =>
  details.map((detail) => invalid(field, value, detail))
