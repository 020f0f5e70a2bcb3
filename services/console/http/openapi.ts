import { z } from 'zod'
import type { Parameter, Route } from './route.ts'

const problem = {
  description: 'why there is no answer',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

/** The API as an OpenAPI 3.1 document, made from the routes that are served. */
export function openApiDocument(routes: readonly Route[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway console',
      version: '1',
      description:
        'How it stands with tenants and their objects. It reads; only operations with a security requirement act. Times are milliseconds since the epoch. In paths, _ stands for no namespace.',
    },
    paths,
    components: { securitySchemes: { operator: { type: 'http', scheme: 'bearer' } } },
  }
}

function operation(route: Route): Record<string, unknown> {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const inQuery = Object.entries(route.query ?? {}).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: parameter.isRequired === true,
    description: parameter.description,
    schema: parameterSchema(parameter),
  }))
  const isOperators = route.kind === 'answer' && route.needsOperator === true
  return {
    operationId: operationId(route),
    summary: route.summary,
    parameters: [...inPath, ...inQuery],
    ...(isOperators ? { security: [{ operator: [] }] } : {}),
    responses: { 200: success(route), default: problem },
  }
}

/** What an operation is called: the path in camel case, after the method. */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.replace('/api/v1/', '').split(/[^a-zA-Z]+/)
  return [
    method.toLowerCase(),
    ...words.filter((word) => word !== '').map((word) => word[0]?.toUpperCase() + word.slice(1)),
  ].join('')
}

function success(route: Route): Record<string, unknown> {
  if (route.kind === 'answer') {
    return { description: route.summary, content: { 'application/json': { schema: schemaOf(route.answer) } } }
  }
  const events = Object.entries(route.events).map(([event, data]) => ({ event, data: schemaOf(data) }))
  return {
    description: `Server-sent events: ${events.map(({ event }) => event).join(', ')}`,
    content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': events } },
  }
}

function schemaOf(type: z.ZodType): unknown {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type)
  return schema
}

function parameterSchema(parameter: Parameter): Record<string, unknown> {
  const { default: value } = parameter
  const common = value === undefined ? {} : { default: value }
  if (parameter.type === 'whole') {
    return { type: 'integer', minimum: parameter.least, maximum: parameter.most, ...common }
  }
  if (parameter.type === 'time') return { type: 'number', minimum: 0 }
  return { type: 'string', ...common, ...(parameter.oneOf === undefined ? {} : { enum: parameter.oneOf }) }
}
