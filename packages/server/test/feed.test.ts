/** The feed with many readers: how often it polls the store, and that it misses no entry. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../test/support/databases.ts'
import { feed as createFeed, type News } from '../src/feed.ts'
import type { Who } from '../src/index.ts'
import { jobmill, type Mill, type FullStore } from '../../jobmill/src/index.ts'
import { systemPlatform } from '../../jobmill/src/store.ts'
import { postgres } from '../../jobmill/src/postgres.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { bench } from './mills.ts'

function opened(store: FullStore<never>): Mill<never> {
  const mill = jobmill({ store, log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

const act = (what: string) => ({ who: 'ada', role: 'admin', what, target: 'x', before: null, after: null })

/** Resolves with the news that satisfies `is`. */
function nextNews(feed: ReturnType<typeof createFeed>, is: (news: News) => boolean): Promise<News> {
  return new Promise((resolve) => {
    const end = feed.listen((news) => {
      if (!is(news)) return
      end()
      resolve(news)
    })
  })
}

const isAct =
  (what: string) =>
  (news: News): boolean =>
    news.type === 'timeline' && news.entry.data['what'] === what

describe('the feed on sqlite', () => {
  test('many readers cause one poll, and no reader causes none', async () => {
    const mill = opened(sqlite(':memory:'))
    let looks = 0
    const counting = { timeline: mill.timeline, counts: () => ((looks += 1), mill.counts()) }
    const feed = createFeed(counting, systemPlatform)
    onTestFinished(() => feed.stop())
    const all = Array.from({ length: 50 }, () => nextNews(feed, ({ type }) => type === 'counts'))
    await Promise.all(all)
    expect(looks).toBeLessThanOrEqual(2)
  })

  test('entries of patched jobs are not streamed: one action may write a million', async () => {
    const mill = opened(sqlite(':memory:'))
    const jobs = await mill.enqueueMany('echo', [{ payload: {} }, { payload: {} }])
    for (const { id } of jobs) await mill.cancel(id)
    const feed = createFeed(mill, systemPlatform)
    onTestFinished(() => feed.stop())
    const types: string[] = []
    const done = nextNews(feed, (news) => {
      if (news.type === 'timeline') types.push(news.entry.type)
      return isAct('last')(news)
    })
    // The first poll only finds the place from which the feed reads on.
    await nextNews(feed, ({ type }) => type === 'counts')
    await mill.bulk.run('retry', {}, { patch: { a: 1 } })
    await mill.audit.write(act('last'))
    await done
    expect(types).toEqual(['audit'])
    expect((await feed.since(0, 50, true)).entries.map(({ type }) => type)).toEqual(['audit'])
    expect((await mill.timeline()).events).toHaveLength(3)
  })

  test('a reader that reconnects gets the latest entries, and is notified of a gap', async () => {
    const mill = opened(sqlite(':memory:'))
    for (let n = 0; n < 120; n += 1) await mill.audit.write(act(`act ${n}`))
    const feed = createFeed(mill, systemPlatform)
    const some = await feed.since(0, 50, true)
    expect(some.isAll).toBe(false)
    expect(some.entries.map(({ data }) => data['what'])).toEqual(
      Array.from({ length: 50 }, (_, n) => `act ${70 + n}`),
    )
    const rest = await feed.since(some.entries[0]?.n ?? 0, 500, true)
    expect([rest.isAll, rest.entries.length]).toEqual([true, 49])
  })

  test('S1 a reader that reconnects gets at most 256 KiB, the latest entries, and is notified of a gap', async () => {
    const mill = opened(sqlite(':memory:'))
    const after = 'x'.repeat(4_000)
    for (let n = 0; n < 120; n += 1) await mill.audit.write({ ...act(`act ${n}`), after })
    const { entries, isAll } = await createFeed(mill, systemPlatform).since(0, 500, true)
    expect(isAll).toBe(false)
    expect(JSON.stringify(entries).length).toBeLessThanOrEqual(256 * 1024)
    expect(entries.length).toBeGreaterThan(60)
    expect(entries.at(-1)?.data['what']).toBe('act 119')
  })

  test('S1 audit entries are not read for a viewer', async () => {
    const mill = opened(sqlite(':memory:'))
    await mill.audit.write(act('secret'))
    const read: string[] = []
    const timeline: Mill['timeline'] = async (query) => {
      const page = await mill.timeline(query)
      read.push(...page.events.map(({ type }) => type))
      return page
    }
    const feed = createFeed({ timeline, counts: () => mill.counts() }, systemPlatform)
    expect(await feed.since(0, 500, false)).toEqual({ entries: [], isAll: true })
    expect(read).toEqual([])
    expect((await feed.since(0, 500, true)).entries).toHaveLength(1)
  })

  test('S1 readers that reconnect at once after the same entry share one read', async () => {
    const mill = opened(sqlite(':memory:'))
    await mill.audit.write(act('one'))
    let reads = 0
    const timeline: Mill['timeline'] = (query) => ((reads += 1), mill.timeline(query))
    const feed = createFeed({ timeline, counts: () => mill.counts() }, systemPlatform)
    const all = await Promise.all(Array.from({ length: 100 }, () => feed.since(0, 500, true)))
    expect([reads, new Set(all.map(({ entries }) => entries)).size]).toEqual([1, 1])
    await mill.audit.write(act('two'))
    expect((await feed.since(0, 500, true)).entries).toHaveLength(2)
  })

  test('S1 a reader does not share a read that started before the last entry was sent', async () => {
    const mill = opened(sqlite(':memory:'))
    let reads = 0
    const gate = Promise.withResolvers<void>()
    const timeline: Mill['timeline'] = async (query) => {
      const page = await mill.timeline(query)
      // Only reads for viewers name types.
      if (query?.types === undefined) return page
      reads += 1
      await gate.promise
      return page
    }
    const feed = createFeed({ timeline, counts: () => mill.counts() }, systemPlatform)
    onTestFinished(() => feed.stop())
    onTestFinished(feed.listen(() => {}))
    await nextNews(feed, ({ type }) => type === 'counts')
    const first = feed.since(0, 500, false)
    const sent = nextNews(feed, isAct('one'))
    await mill.audit.write(act('one'))
    await sent
    const second = feed.since(0, 500, false)
    gate.resolve()
    await Promise.all([first, second])
    expect(reads).toBe(2)
  })
})

describe('the feed on postgres', () => {
  test('an entry that commits after a later number is still sent', async () => {
    const url = inject('postgresUrl')
    const schema = freshSchema(url, 'feed')
    const mill = opened(postgres(url, { schema }))
    await mill.open()
    const feed = createFeed(mill, systemPlatform)
    onTestFinished(() => feed.stop())
    // A permanent reader, so that the feed does not restart.
    onTestFinished(feed.listen(() => {}))
    await nextNews(feed, ({ type }) => type === 'counts')
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('BEGIN')
    await client.query(
      `INSERT INTO ${schema}.event (at, type, source, data) VALUES (1, 'audit', gen_random_uuid(), $1)`,
      [JSON.stringify(act('late'))],
    )
    const late = nextNews(feed, isAct('late'))
    const early = nextNews(feed, isAct('early'))
    await mill.audit.write(act('early'))
    await early
    await client.query('COMMIT')
    expect(await late).toMatchObject({ type: 'timeline' })
  })
})

/** A stream of an operator, and a way to change what `authenticate` returns, an hour later. */
async function stream() {
  let who: Who | null = { name: 'ada', role: 'operator' }
  let aheadMs = 0
  const platform = { ...systemPlatform, monotonic: () => systemPlatform.monotonic() + aheadMs }
  const { mill, url } = await bench(sqlite(':memory:'), { work: false, platform, authenticate: () => who })
  const { body } = await fetch(`${url}/api/events`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  /** Resolves with all text up to `end`, or to the end of the stream. */
  const until = async (end: string): Promise<string> => {
    while (!text.includes(end)) {
      const read = await reader?.read()
      if (read === undefined || read.done) return `${text}(closed)`
      text += read.value
    }
    return text
  }
  onTestFinished(() => reader?.cancel())
  await until('event: counts')
  return {
    mill,
    until,
    later: (next: Who | null): void => {
      who = next
      aheadMs += 3_600_000
      text = ''
    },
  }
}

describe('a stream whose reader is signed out', () => {
  test('S is closed before it sends anything else', async () => {
    const { mill, until, later } = await stream()
    later(null)
    await mill.audit.write(act('late'))
    expect(await until('late')).toBe('(closed)')
  })

  test('S sends only what a lowered role allows', async () => {
    const { mill, until, later } = await stream()
    await mill.audit.write(act('early'))
    await until('early')
    later({ name: 'ada', role: 'viewer' })
    await mill.audit.write(act('late'))
    await mill.enqueue('echo', {})
    expect(await until('event: counts')).not.toContain('late')
  })
})
