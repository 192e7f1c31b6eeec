/** Compares docs/reference/http.md with the code: every route, its parameters, and every code. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HTTP_CODES } from '../src/problem.ts'
import { VERSION } from '../../jobmill/src/job/payload/version.ts'
import { operationsOf } from './calls.ts'
import { apiDocument } from './document.ts'
import { withoutTables, withTables } from './request-tables.ts'

const page = readFileSync(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8')
const rows = withoutTables(page)
  .split('\n')
  .filter((line) => line.startsWith('| `'))

test('docs/reference/http.md lists every route, with its role and its name', async () => {
  const document = await apiDocument()
  expect(document.openapi).toBe('3.1.0')
  const routes = operationsOf(document).map(
    ({ method, path, role, name, operation }) =>
      `| \`${method} ${path}\` | ${role} | \`${name}\` | ${(operation as { summary?: string }).summary ?? ''} |`,
  )
  expect(rows.filter((row) => row.includes(' /'))).toEqual(routes)
})

test('docs/reference/http.md lists the parameters of every route; npm run docs:http writes them', async () => {
  expect(page).toContain('### POST /api/jobs')
  expect(page).toBe(withTables(page, await apiDocument()))
})

test('docs/reference/http.md lists every HTTP code, with its status', () => {
  const codes = Object.entries(HTTP_CODES).map(
    ([code, [status, title]]) => `| \`${code}\` | ${status} | ${title} |`,
  )
  expect(rows.filter((row) => !row.includes(' /'))).toEqual(codes)
})

test('the API reports the version of the package', () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../jobmill/package.json', import.meta.url), 'utf8'),
  ) as {
    version: string
  }
  expect(VERSION).toBe(version)
})
