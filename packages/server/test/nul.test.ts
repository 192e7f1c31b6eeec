/** A name with U+0000 in a URL gets the same answer on both stores, and no stack in the log. */
import { describe, expect, test } from 'vitest'
import { documentOf, operationsOf } from './calls.ts'
import { bench, subjects } from './mills.ts'

const NUL = 'a%00b'

describe.each(subjects)('http on $name: names with U+0000', ({ store }) => {
  test('N20 every route with a name in its path or query refuses it with a field and a fix, or does not find it', async () => {
    const lines: string[] = []
    const { url } = await bench(store(), {
      onError: (error) => void lines.push(String(error)),
    })
    const routes = operationsOf(await documentOf(url))
    const asked = [
      ...routes
        .filter(({ path }) => path.includes('{'))
        .map(({ method, path }) => [method, path.replace(/\{[^}]+\}/g, NUL)] as const),
      ...[
        'timeline',
        'jobs',
        'metrics',
        'metrics/series',
        'jobs/count',
        'queues',
        'schedules',
        'overrides',
      ].flatMap((path) =>
        ['queue', 'kind', 'tag', 'type', 'types', 'name', 'limit', 'scope'].map(
          (field) => ['GET', `/api/${path}?${field}=${NUL}`] as const,
        ),
      ),
    ]
    for (const [method, path] of asked) {
      const isWrite = method !== 'GET'
      const response = await fetch(`${url}${path}`, {
        method,
        ...(isWrite && { body: '{}', headers: { 'content-type': 'application/json' } }),
      })
      const body = await response.text()
      expect([method, path, response.status, body]).not.toEqual([method, path, 422, body])
      expect([path, response.status < 500]).toEqual([path, true])
    }
    const timeline = await fetch(`${url}/api/timeline?queue=${NUL}`)
    expect([timeline.status, await timeline.json()]).toMatchObject([
      400,
      { code: 'NAME_INVALID', field: 'queue', fix: expect.stringContaining('Remove') as string },
    ])
    expect(lines).toEqual([])
  })
})
