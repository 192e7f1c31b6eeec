/** One run on one store. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fakeTelegram, type FakeChat, type FakeTelegram } from 'jobmill-telegram/fake'
import { freePort } from '../../test/support/free-port.ts'
import type { Closers } from '../closing.ts'
import { judgeRuns, type RunsReport } from './runs.ts'
import { endChild } from '../end-child.ts'

export interface LoadOptions {
  readonly store: 'sqlite' | 'postgres'
  readonly database: string
  readonly chats: number
  readonly updates: number
  /** Null: the process is killed instead. */
  readonly restart: (() => Promise<void>) | null
}

interface Pace {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface LoadReport extends RunsReport {
  readonly store: string
  readonly updates: number
  /** Accepted requests, repeats included. */
  readonly webhooks: number
  /** Until the process was killed for the first time. */
  readonly steady: Pace
  readonly whole: Pace
  /** Deliveries that failed and were retried, because the process or the database was down. */
  readonly refused: number
  readonly repeats: number
  readonly answered: number
  readonly twice: number
  /** The maximum number of duplicate replies: those in flight at a kill or restart. */
  readonly most: number
  readonly outOfOrder: number
  readonly lost: number
  /**
   * The maximum number of updates that may be handled again: those running, or with an unwritten outcome, at
   * a kill or restart.
   */
  readonly mostAgain: number
  readonly seconds: number
}

const TOKEN = '7001:load-load-load-load'
const SECRET = 'a-secret-for-a-load-run-on-loopback'
const REPEATED = 0.1
const CONNECTIONS = 100
/** Parallel senders of a bot, from `parts.ts` of the gateway. */
const SENDERS = 20
/** Parallel updates. */
const CONCURRENCY = 50
const PATIENCE_MS = 900_000
/** Per sender and worker: its current job, and at most two unwritten outcomes. */
const UNWRITTEN = 3
/** A kill and a restart, or two kills. */
const TROUBLES = 2

export async function load(options: LoadOptions, closing: Closers): Promise<LoadReport> {
  const { chats: count, updates, store } = options
  const fake = await fakeTelegram({ retryScale: 0.05 })
  closing.add(() => fake.close())
  fake.addBot({ token: TOKEN, username: 'load_bot' })
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'prove-telegram-runs-'))
  closing.add(async () => rmSync(folder, { recursive: true, force: true }))
  const runs = path.join(folder, 'runs')
  let child = await start(fake, options, port, runs)
  closing.add(async () => void child.kill('SIGKILL'))
  await call(fake, 'setWebhook', {
    url: `http://127.0.0.1:${port}/telegram/load`,
    secret_token: SECRET,
    max_connections: CONNECTIONS,
  })

  const startedAt = performance.now()
  const chats = Array.from({ length: count }, (_, n) => fake.chat({ bot: TOKEN, id: 10_000 + n }))
  const ids = chats.flatMap((chat) => Array.from({ length: updates }, (_, n) => chat.says(`${n}`).updateId))
  const total = ids.length
  const countAccepted = (): number => fake.deliveries.filter(({ status }) => status === 200).length
  const showing = setInterval(
    () =>
      console.log(`  ${store}: ${countAccepted()} of ${total} webhooks taken, ${answers(chats)} answered`),
    5_000,
  )
  closing.add(async () => clearInterval(showing))

  /** Redelivers every tenth update, as if its response had been lost. */
  let repeats = 0
  const repeating = (async () => {
    for (const id of ids.filter((_, n) => n % (1 / REPEATED) === 0)) {
      await fake.until(
        () => fake.deliveries.some((one) => one.updateId === id && one.status === 200),
        PATIENCE_MS,
      )
      for (;;) {
        const { status } = await fake.redeliver(id, { bot: TOKEN })
        if (status === 200) break
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      repeats += 1
    }
  })()

  const kill = async (): Promise<void> => {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    child = await start(fake, options, port, runs)
  }
  await fake.until(() => countAccepted() > total / 3, PATIENCE_MS)
  const steady = pace(fake, performance.now() - startedAt)
  console.log(`  ${store}: killing the process`)
  await kill()
  await fake.until(() => countAccepted() > (2 * total) / 3, PATIENCE_MS)
  console.log(
    `  ${store}: ${options.restart === null ? 'killing the process again' : 'restarting the database'}`,
  )
  await (options.restart?.() ?? kill())
  await fake.until(() => fake.deliveries.filter(({ status }) => status === 200).length >= total, PATIENCE_MS)
  const deliveredMs = performance.now() - startedAt
  await repeating
  await fake.until(() => chats.every((chat) => repliesIn(chat).size >= updates), PATIENCE_MS)
  clearInterval(showing)
  await endChild(child)
  const report = reportOf(fake, chats, {
    ...options,
    total,
    repeats,
    steady,
    deliveredMs,
  })
  await fake.close()
  return {
    ...report,
    ...judgeRuns(runs, total),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
  }
}

async function start(
  fake: FakeTelegram,
  { database }: LoadOptions,
  port: number,
  runs: string,
): Promise<ChildProcess> {
  const yaml = {
    apiRoot: fake.url,
    listen: `127.0.0.1:${port}`,
    admin: false,
    bots: {
      load: {
        handler: 'moody',
        async: true,
        requireAuth: false,
        concurrency: CONCURRENCY,
        retry: { attempts: 20, backoff: ['1s'] },
      },
    },
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL('gateway.ts', import.meta.url))], {
    env: {
      ...process.env,
      YAML: JSON.stringify(yaml),
      DATABASE_URL: database,
      RUNS: runs,
      BOT_LOAD_TOKEN: TOKEN,
      BOT_LOAD_SECRET: SECRET,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

async function call(fake: FakeTelegram, method: string, payload: object): Promise<void> {
  const answer = await fetch(`${fake.url}/bot${TOKEN}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  })
  if (!answer.ok) throw new Error(`${method} was answered with ${answer.status}`)
}

/** The pace of the webhooks accepted so far. */
function pace(fake: FakeTelegram, ms: number): Pace {
  const times = fake.deliveries.flatMap((one) => (one.status === 200 ? one.ms : [])).toSorted((a, b) => a - b)
  const quantile = (q: number): number =>
    Math.round((times[Math.floor(q * (times.length - 1))] ?? 0) * 10) / 10
  return { perSecond: Math.round((times.length / ms) * 1_000), p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

/** Duplicates count once. */
function repliesIn(chat: FakeChat): Set<string> {
  return new Set(chat.transcript().flatMap(({ by, text }) => (by === 'bot' ? [text] : [])))
}

function answers(chats: readonly FakeChat[]): number {
  return chats.reduce((sum, chat) => sum + chat.transcript().filter(({ by }) => by === 'bot').length, 0)
}

interface Counted extends LoadOptions {
  readonly total: number
  readonly repeats: number
  readonly steady: Pace
  readonly deliveredMs: number
}

function reportOf(
  fake: FakeTelegram,
  chats: readonly FakeChat[],
  at: Counted,
): Omit<LoadReport, 'seconds' | keyof RunsReport> {
  const accepted = fake.deliveries.filter(({ status }) => status === 200)
  let [twice, outOfOrder, lost] = [0, 0, 0]
  for (const chat of chats) {
    const numbers = chat
      .transcript()
      .flatMap(({ by, text }) => (by === 'bot' ? [Number(text.replace('did ', ''))] : []))
    const once = [...new Set(numbers)]
    twice += numbers.length - once.length
    lost += at.updates - once.length
    if (once.some((n, i) => i > 0 && n < (once[i - 1] ?? 0))) outOfOrder += 1
  }
  return {
    store: at.store,
    updates: at.total,
    webhooks: accepted.length,
    steady: at.steady,
    whole: pace(fake, at.deliveredMs),
    refused: fake.deliveries.length - accepted.length,
    repeats: at.repeats,
    answered: answers(chats),
    twice,
    most: UNWRITTEN * SENDERS * TROUBLES,
    outOfOrder,
    lost,
    // Running updates plus unwritten outcomes: a process claims no more once twice its workers are unwritten
    // (mayAccept in dispatch/capacity.ts).
    mostAgain: (CONCURRENCY + 2 * (CONCURRENCY + SENDERS)) * TROUBLES,
  }
}
