import { ApiError } from '../api-error.ts'

export type IncludeObject = 'Metadata' | 'Object' | 'None'

/** What a Table's rows carry of their objects. @throws ApiError 400 */
export function includeObject(query: URLSearchParams): IncludeObject {
  const text = query.get('includeObject') ?? ''
  if (text === '' || text === 'Metadata') return 'Metadata'
  if (text === 'Object' || text === 'None') return text
  throw ApiError.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}
