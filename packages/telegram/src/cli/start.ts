/** Starts the gateway and runs it until it is told to stop. */
import { once } from 'node:events'
import { consoleLogger } from 'jobmill'
import { readFileSync } from 'node:fs'
import { startGateway } from '../gateway.ts'
import { configFor, flags } from './config.ts'

export async function start(args: readonly string[]): Promise<number> {
  const { values } = flags(args, { poll: { type: 'boolean' } })
  const config = configFor(values.config)
  if (config === null) return 2
  const mode = values.poll === true ? 'polling' : config.mode
  const gateway = await startGateway({
    config: { ...config, mode },
    log: consoleLogger('info'),
    admin: adminOf(process.env),
  })
  const lines = [
    `jobmill-telegram listens at ${gateway.url}`,
    ...(gateway.adminUrl === null ? [] : [`Mission Control   ${gateway.adminUrl}`]),
    `database          ${config.database === null ? 'none: nothing survives a restart' : (gateway.mill?.storeName ?? '')}`,
    ...gateway.bots.map(
      ({ slug, handler, async, requireAuth }) =>
        `bot ${slug.padEnd(13)} ${handler}${async ? ', durable' : ''}${requireAuth ? ', for who logged in' : ''}`,
    ),
    mode === 'polling'
      ? 'asks Telegram for updates'
      : config.publicUrl === null
        ? 'publicUrl is not set: tell Telegram yourself where updates go, or start with --poll'
        : `Telegram sends updates to ${config.publicUrl}/telegram/…`,
  ]
  console.log(lines.join('\n'))
  const signals = new AbortController()
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal: signals.signal })))
  console.log('stopping: no more updates; what runs may end (again to stop at once)')
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      console.log('stopping at once: what runs is interrupted, and goes on at the next start')
      gateway.hurry()
    })
  await gateway.stop()
  console.log('stopped')
  return 0
}

function adminOf(env: NodeJS.ProcessEnv): { readonly tokens?: string } {
  const file = env['JOBMILL_TOKENS_FILE']
  const tokens = env['JOBMILL_TOKENS'] ?? (file === undefined ? undefined : readFileSync(file, 'utf8'))
  return tokens === undefined || tokens.trim() === '' ? {} : { tokens }
}
