/** `npm run start:telegram`: runs a gateway, a fake Telegram and a conversation between them, then exits. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, startGateway } from 'jobmill-telegram'
import { fakeTelegram } from 'jobmill-telegram/fake'
import { conversation } from './conversation.ts'
import { weatherService } from './weather-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'jobmill-telegram-'))
/** Remove the temporary folder on Ctrl+C too. */
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  })
const telegram = await fakeTelegram({ retryScale: 0.1 })
const weather = await weatherService('a-secret-that-both-sides-know')
const SLUGS = ['door', 'parrot', 'weather', 'report', 'trouble']
const secrets = Object.fromEntries(
  SLUGS.flatMap((slug, n) => [
    [`BOT_${slug.toUpperCase()}_TOKEN`, `${7_001 + n}:not-a-real-token`],
    [`BOT_${slug.toUpperCase()}_SECRET`, 'not-a-real-secret-but-long-enough'],
  ]),
)
for (const [n, slug] of SLUGS.entries())
  telegram.addBot({ token: `${7_001 + n}:not-a-real-token`, username: `demo_${slug}_bot` })

const { config, problems } = readConfig({
  yaml: readFileSync(new URL('telegram.yaml', import.meta.url), 'utf8'),
  name: 'demo/telegram.yaml',
  env: {
    ...secrets,
    BOT_WEATHER_HTTP_SECRET: 'a-secret-that-both-sides-know',
    AUTH_SECRET: 'open sesame, please',
    DATABASE_URL: join(folder, 'telegram.db'),
    TELEGRAM_API_ROOT: telegram.url,
  },
})
if (config === null) throw new Error(JSON.stringify(problems, null, 2))
const [, , weatherBot] = config.bots
if (weatherBot?.http === undefined || weatherBot.http === null)
  throw new Error('the weather bot has no http target')
const bots = config.bots.map((bot) =>
  bot === weatherBot ? { ...bot, http: { ...weatherBot.http, url: weather.url } } : bot,
)
/** Prints log lines in parentheses, as an operator would see them. */
const tell = (message: string): void =>
  console.log(`  (${(message.split('\n')[0] ?? '').replaceAll(/ [0-9a-f-]{36}/g, '')})`)
const gateway = await startGateway({
  config: { ...config, bots: bots as typeof config.bots },
  log: { least: 'warn', debug() {}, info() {}, warn: tell, error: tell },
})
for (const { api, slug, secrets: own } of gateway.bots)
  await api.setWebhook(`${gateway.url}/telegram/${slug}`, { secret_token: own[0] ?? '' })

console.log(`The gateway listens at ${gateway.url} and stores its jobs in ${join(folder, 'telegram.db')}.`)
console.log(`A fake Telegram runs at ${telegram.url}. Ada (user 42) writes to five bots.\n`)
const code = (await gateway.codes?.issue({ scopes: ['*'], ttlMs: 60_000 })) ?? ''
const isWell = await conversation({ telegram, gateway, code })
await gateway.stop()
await weather.close()
await telegram.close()
rmSync(folder, { recursive: true, force: true })
process.exit(isWell ? 0 : 1)
