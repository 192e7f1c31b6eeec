/** A gateway with a fake Telegram in front of it, on one of the two stores, for the tests of a file. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inject, vi } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import type { Bot } from '../../src/bots/bot.ts'
import type { FakeChat, FakeTelegram, FakeTelegramOptions } from '../../src/fake/types.ts'
import { type Gateway, type GatewayOptions, readConfig, startGateway } from '../../src/index.ts'
import { PATIENCE_MS, patientTelegram } from './patient-telegram.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

/** A database that nobody else uses. */
export function freshDatabase(store: StoreName): string {
  if (store === 'sqlite') return freshFile()
  const url = inject('postgresUrl')
  return `${url}?schema=${freshSchema(url, 'telegram')}`
}

/** A bot as it stands in the YAML: everything but its secrets. */
type BotYaml = Readonly<Record<string, unknown>>

export interface SceneOptions extends Omit<GatewayOptions, 'config'> {
  readonly store: StoreName | 'none'
  /** To start a second gateway on the same. */
  readonly database?: string
  readonly telegram?: FakeTelegram
  readonly fake?: FakeTelegramOptions
  readonly bots: Readonly<Record<string, BotYaml>>
  readonly yaml?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** How long a process may be silent; less than people may set. */
  readonly leaseMs?: number
  /** Ids of the bots by their slugs, where they are not the usual ones. */
  readonly ids?: Readonly<Record<string, number>>
}

export interface Scene {
  readonly fake: FakeTelegram
  readonly gateway: Gateway
  readonly database: string
  readonly tokenOf: (slug: string) => string
  /** A private chat of a user with a bot; by default of a user of its own. */
  readonly chat: (slug: string, id?: number) => FakeChat
  /** A request to the webhook as anybody could send it. */
  readonly post: (slug: string, body: unknown, options?: PostOptions) => Promise<Response>
  readonly stop: () => Promise<void>
}

interface PostOptions {
  readonly secret?: string | null
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const SECRET = 'a-secret-of-32-characters-or-more'
export const AUTH_SECRET = 'let-me-in-please'

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

let users = 1_000

/** The tokens and secrets of these bots, as the environment has them. */
export function envOf(
  slugs: readonly string[],
  ids: Readonly<Record<string, number>> = {},
): Record<string, string> {
  return Object.fromEntries(
    slugs.flatMap((slug, n) => {
      const name = `BOT_${slug.toUpperCase().replaceAll('-', '_')}`
      return [
        [`${name}_TOKEN`, tokenFor(ids[slug] ?? 7_000 + n)],
        [`${name}_SECRET`, SECRET],
        [`${name}_HTTP_SECRET`, 'signs-what-is-sent'],
      ]
    }),
  )
}

function tokenFor(id: number): string {
  return `${id}:abcdefghijklmnop`
}

export async function scene(options: SceneOptions): Promise<Scene> {
  const { store, bots, yaml = {}, ids = {}, env = {}, telegram, fake: how, leaseMs, ...others } = options
  const { database: given, ...rest } = others
  const slugs = Object.keys(bots)
  const fake = telegram ?? (await patientTelegram({ retryScale: 0.02, ...how }))
  const tokens = new Map(slugs.map((slug, n) => [slug, tokenFor(ids[slug] ?? 7_000 + n)]))
  if (telegram === undefined)
    for (const [slug, token] of tokens) fake.addBot({ token, username: `${slug.replaceAll('-', '_')}_bot` })
  const database = given ?? (store === 'none' ? '' : freshDatabase(store))
  const { config, problems } = readConfig({
    // JSON is YAML.
    yaml: JSON.stringify({
      apiRoot: fake.url,
      listen: '127.0.0.1:0',
      admin: false,
      ...(store === 'none' ? { store: 'none' } : {}),
      ...yaml,
      bots,
    }),
    env: {
      ...envOf(slugs, ids),
      AUTH_SECRET,
      ...(store === 'none' ? {} : { DATABASE_URL: database }),
      ...env,
    },
    handlers: Object.keys(options.handlers ?? {}),
  })
  if (config === null) throw new Error(JSON.stringify(problems, null, 2))
  const gateway = await startGateway({
    log: QUIET,
    ...rest,
    config: leaseMs === undefined ? config : { ...config, leaseMs },
  })
  // It is told who its bots are beside everything else, and says their names.
  await vi.waitUntil(() => gateway.bots.every(isKnown), { timeout: PATIENCE_MS, interval: 5 })
  // The address is known only now.
  if (config.mode === 'webhook')
    await Promise.all(
      gateway.bots.map(({ slug, api }) =>
        api.setWebhook(`${gateway.url}/telegram/${slug}`, { secret_token: SECRET, max_connections: 100 }),
      ),
    )
  return {
    fake,
    gateway,
    database,
    tokenOf: (slug) => tokens.get(slug) ?? '',
    chat(slug, id = (users += 1)) {
      return fake.chat({ bot: tokens.get(slug) ?? '', id })
    },
    post: (slug, body, { secret = SECRET, raw, headers = {} } = {}) =>
      fetch(`${gateway.url}/telegram/${slug}`, {
        method: 'POST',
        body: raw ?? JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          // One that is kept may be ended by the other side just when it is used again.
          connection: 'close',
          ...(secret === null ? {} : { 'x-telegram-bot-api-secret-token': secret }),
          ...headers,
        },
      }),
    async stop() {
      await gateway.stop()
      if (options.telegram === undefined) await fake.close()
    },
  }
}

/** Or what keeps it from that. */
const isKnown = ({ username, trouble }: Bot): boolean => username !== null || trouble !== null

let updates = 900_000

/** A message as Telegram posts it, with fields that nobody knows. */
export function anUpdate(
  text: string,
  {
    userId = 77,
    chatId,
    updateId = (updates += 1),
  }: { userId?: number; chatId?: number; updateId?: number } = {},
) {
  const chat = chatId ?? userId
  return {
    update_id: updateId,
    message: {
      message_id: 5,
      from: { id: userId, is_bot: false, first_name: 'Ada', aura: 'blue' },
      chat: { id: chat, type: chat < 0 ? 'group' : 'private' },
      date: 1_700_000_000,
      text,
    },
    invented_yesterday: { deep: [1, { er: null }] },
  }
}

export interface Service {
  readonly url: string
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[]
  /** What is answered next; the last one is answered for ever. */
  answers: ((
    body: string,
  ) => { status?: number; body?: string; headers?: Record<string, string> } | 'never')[]
  readonly close: () => Promise<void>
}

/** A service that updates are forwarded to. */
export async function service(): Promise<Service> {
  const requests: Service['requests'] = []
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    requests.push({ headers: request.headers, body })
    const answer = (made.answers.length > 1 ? made.answers.shift() : made.answers[0])?.(body) ?? {}
    if (answer === 'never') return
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const made: Service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    answers: [],
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return made
}

/** The texts that the bot sent. */
export const saidBy = (chat: FakeChat): string[] =>
  chat.transcript().flatMap(({ by, text }) => (by === 'bot' ? [text] : []))
