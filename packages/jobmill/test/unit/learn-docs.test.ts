/** What a newcomer looks up in the guides, and could not find once. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { JobContext } from '../../src/job/context.ts'

const page = (name: string): string =>
  readFileSync(new URL(`../../../../docs/learn/${name}`, import.meta.url), 'utf8')

test.each([
  ['pg', 'postgres.js', 'Kysely', 'Drizzle', 'Knex', 'Prisma', 'TypeORM'],
  ['Fastify', 'Express', 'Hono', 'Next.js'],
  ['pino', 'console'],
])('N4 docs/learn/integrations.md names %s and the like', (...names) => {
  const text = page('integrations.md')
  expect(names.filter((name) => !text.includes(name))).toEqual([])
})

/** The compiler checks this list against the type. */
const CONTEXT: { readonly [Property in keyof JobContext]: true } = {
  payload: true,
  context: true,
  job: true,
  attempt: true,
  signal: true,
  progress: true,
  log: true,
  now: true,
  instance: true,
  enqueue: true,
  enqueueMany: true,
  step: true,
  limit: true,
  previousError: true,
  snooze: true,
  complete: true,
}

test('N11 docs/learn/handlers.md lists every property of the handler context', () => {
  const [, section = ''] = page('handlers.md').split('## The handler context\n')
  const [table = ''] = section.split('\n## ')
  const cells = table.split('\n').flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? [])
  const listed = cells.flatMap((cell) => cell.match(/(?<=`)\w+/g) ?? [])
  expect(listed.toSorted()).toEqual(Object.keys(CONTEXT).toSorted())
})

test('N11 docs/learn/getting-started.md explains mill.job(id) and order keys', () => {
  const text = page('getting-started.md')
  expect(text).toContain('`mill.job(id)` returns')
  expect(text).toMatch(/^## Order keys$|^### Order keys$/m)
})
