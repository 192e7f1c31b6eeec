/** The `jobmill groups` commands. */
import { describe, expect, test } from 'vitest'
import type { GroupRecord } from '../../src/store/types/group.ts'
import { places } from './run.ts'

describe.each(places)('groups on $name', { timeout: 60_000 }, ({ create }) => {
  test('list, set, pause and resume', async () => {
    const place = create()
    const mill = place.mill()
    await mill.enqueue('page.render', 1, { queue: 'render' })
    await mill.changeQueue('render', { groups: { fair: true, concurrency: 2 } })
    await mill.enqueueMany('page.render', [
      { payload: 1, queue: 'render', group: 'acme' },
      { payload: 2, queue: 'render', group: 'acme' },
      { payload: 3, queue: 'render', group: 'other' },
    ])
    const { groups } = await place.json<{ groups: GroupRecord[] }>(['groups', 'list', 'render'])
    expect(groups.map(({ name, waiting }) => [name, waiting])).toEqual([
      ['acme', 2],
      ['other', 1],
    ])
    const set = await place.run('groups set render acme --weight 4 --rate 10 --per 1m'.split(' '))
    expect(set).toMatchObject({
      code: 0,
      out: 'acme: weight 4, concurrency 2, rate 10 per 1m; 2 waiting jobs, 0 running\n',
    })
    expect((await place.run(['groups', 'pause', 'render', 'other'])).out).toBe(
      'other: weight 1, concurrency 2, rate none, paused; 1 waiting job, 0 running\n',
    )
    const { out } = await place.run('groups list render --sort name --limit 2'.split(' '))
    expect(out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))).toMatchObject([
      expect.stringMatching(/^group \| waiting \| running/),
      expect.stringMatching(/^acme \| 2 \| 0 of 2 \| .*4 \| 10 per 1m/),
      expect.stringMatching(/^other \| 1 \| 0 of 2 \| .*paused/),
      '',
    ])
    expect((await place.run(['groups', 'resume', 'render', 'other'])).out).not.toContain('paused')
    expect((await place.run('groups set render acme --weight default'.split(' '))).out).toContain('weight 1,')
  })

  test('a change that would have no effect is refused', async () => {
    const place = create()
    await place.mill().enqueue('page.render', 1, { queue: 'render' })
    const failure = async (words: string): Promise<string> => (await place.run(words.split(' '))).err
    expect(await failure('groups set render acme --weight 2')).toContain('does not share its workers')
    expect(await failure('groups set rendr acme --weight 2')).toContain('Did you mean "render"?')
    expect(await failure('groups set render acme')).toContain('Pass a setting such as --weight 2')
    expect(await failure('groups set render acme --weight 0')).toContain(
      '--weight: must be a number from 0.1',
    )
    expect(await failure('groups list nope')).toContain('no queue has this name (got "nope")')
  })
})
