/** `start`: runs the inbox, Mission Control and the sweep in one process until a signal stops it. */
import { isJobmillError, type Mill, stopOnSignals } from 'jobmill'
import { rephrase } from 'jobmill/internal'
import { EXIT, ignoreOutputErrors } from 'jobmill/cli'
import { serve, servePublic } from 'jobmill-server'
import { ConfigInvalid } from '../config/read-config.ts'
import type { Config } from '../config/shape.ts'
import type { Command, CommandInput } from './command.ts'
import { keepSmall } from './keep-small.ts'
import { DEFAULT_ADMIN_PORT, DEFAULT_PORT, addressProblems, LOOPBACK } from './look.ts'
import { DEFAULT_BLOBS, type Opened, openInbox } from './open-inbox.ts'

export const start: Command = {
  words: 'start',
  says: 'run the inbox until a signal stops it (a second signal stops it immediately)',
  options: {
    port: { takes: 'PORT', says: `port of the mailbox API (default ${DEFAULT_PORT})` },
    bind: { takes: 'ADDRESS', says: `address of the mailbox API (default ${LOOPBACK})` },
    'admin-port': {
      takes: 'PORT',
      says: `port of Mission Control, its API and the metrics (default ${DEFAULT_ADMIN_PORT})`,
    },
    'admin-bind': { takes: 'ADDRESS', says: `address of Mission Control (default ${LOOPBACK})` },
  },
  fields: { port: '--port', bind: '--bind' },
  async run(given) {
    const read = given.config()
    const { config: settings } = read
    const problems = addressProblems(read)
    if (problems.length > 0) throw new ConfigInvalid(problems)
    // A log collector that restarts must not end the inbox.
    ignoreOutputErrors()
    const opened = await openInbox(settings)
    const mill = opened.newMill(settings.logLevel ?? 'info')
    try {
      const servers = await listen(opened, mill, settings)
      const { inbox, admin } = servers
      const { out } = given
      keepSmall()
      const ended = untilStopped(opened, mill, servers, given)
      await mill.start()
      const { blobs = DEFAULT_BLOBS } = settings
      out(`store   ${mill.storeName}`)
      out(`blobs   ${blobs === 'postgres' ? 'in the database' : blobs}`)
      out(`inbox   ${inbox.url}/mailboxes/ID/uploads`)
      if (admin.hasPage) out(`ui      ${admin.url}/`)
      out(`api     ${admin.url}/api/overview`)
      out(`ready   ${inbox.url}; stop with Ctrl+C`)
      return await ended
    } catch (error) {
      await mill.stop()
      await opened.close()
      throw error
    }
  },
}

type Servers = Awaited<ReturnType<typeof listen>>

async function listen({ inbox }: Opened, mill: Mill<never>, settings: Config) {
  const { port = DEFAULT_PORT, bind = LOOPBACK, tokens } = settings
  const { adminPort = DEFAULT_ADMIN_PORT, adminBind = LOOPBACK } = settings
  await inbox.start(mill)
  const open = await servePublic(mill, { port, bind, routes: inbox.fetch })
  try {
    const apps = { uploads: inbox.app }
    const options = { port: adminPort, bind: adminBind, apps, ...(tokens !== undefined && { tokens }) }
    return { inbox: open, admin: await serve(mill, options).catch(ofAdmin) }
  } catch (error) {
    await open.close()
    throw error
  }
}

/** Errors name our admin options instead of those of the mailbox API. */
function ofAdmin(error: unknown): never {
  if (!isJobmillError(error) || (error.field !== 'port' && error.field !== 'bind')) throw error
  throw rephrase(error, {
    field: (name) => `--admin-${name}`,
    fixes: {
      'server.port': 'Pass another port with --admin-port',
      'server.address': 'Pass another address with --admin-bind',
    },
  })
}

function untilStopped(
  { inbox, close }: Opened,
  mill: Mill<never>,
  { inbox: open, admin }: Servers,
  { out, err }: CommandInput,
): Promise<number> {
  let quiet: Promise<void> | null = null
  return new Promise((resolve) => {
    // Lets running uploads finish while the mill stops, and accepts no new ones.
    stopOnSignals(
      {
        stop(options) {
          quiet ??= inbox.stop()
          return mill.stop(options)
        },
      },
      {
        async beforeClose() {
          await quiet
          await Promise.all([open.close(), admin.close()])
          await close()
        },
        stopped() {
          out('stopped')
          resolve(EXIT.done)
        },
        failed(error) {
          err(`error   shutdown failed: ${String(error)}`)
          resolve(EXIT.failed)
        },
      },
    )
  })
}
