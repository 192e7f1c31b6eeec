/** `start`: the inbox, its sweep, the API and Mission Control in one process, until a signal ends it. */
import { type Mill, stopOnSignals } from 'jobmill'
import { EXIT } from 'jobmill/cli'
import { serve, type Served } from 'jobmill/http'
import { ConfigInvalid } from '../config/read-config.ts'
import type { Config } from '../config/shape.ts'
import type { Command, Given } from './command.ts'
import { keepSmall } from './keep-small.ts'
import { doorProblems } from './look.ts'
import { DEFAULT_BLOBS, type Opened, openInbox } from './open-inbox.ts'

const DEFAULT_PORT = 8788

export const start: Command = {
  words: 'start',
  says: 'runs the inbox until a signal stops it',
  options: {
    port: { type: 'string', takes: 'PORT', says: `where it listens (default ${DEFAULT_PORT})` },
    bind: { type: 'string', takes: 'ADDRESS', says: 'the address to listen on (default 127.0.0.1)' },
  },
  fields: { port: '--port', bind: '--bind' },
  async run(given) {
    const read = given.config()
    const { config: settings } = read
    const problems = doorProblems(read)
    if (problems.length > 0) throw new ConfigInvalid(problems)
    const opened = await openInbox(settings)
    const mill = opened.newMill({ log: 'warn' })
    try {
      const served = await listen(opened, mill, settings)
      keepSmall()
      const ended = untilStopped(opened, mill, served, given)
      await mill.start()
      const { out } = given
      const { blobs = DEFAULT_BLOBS } = settings
      out(`store   ${mill.storeName}`)
      out(`blobs   ${blobs === 'postgres' ? 'in the database' : blobs}`)
      out(`inbox   ${served.url}/mailboxes/ID/uploads`)
      if (served.hasPage) out(`page    ${served.url}/`)
      out(`ready   ${served.url}; stop it with Ctrl-C`)
      return await ended
    } catch (error) {
      await mill.stop()
      await opened.close()
      throw error
    }
  },
}

async function listen({ inbox }: Opened, mill: Mill<never>, settings: Config): Promise<Served> {
  const { port = DEFAULT_PORT, bind = '127.0.0.1', tokens } = settings
  await inbox.start(mill)
  return serve(mill, {
    port,
    bind,
    beside: inbox.fetch,
    apps: { uploads: inbox.app },
    ...(tokens !== undefined && { tokens }),
  })
}

function untilStopped(
  { inbox, close }: Opened,
  mill: Mill<never>,
  served: Served,
  { out, err }: Given,
): Promise<number> {
  return new Promise((resolve) => {
    stopOnSignals(mill, {
      async beforeClose() {
        // Whoever is sending may end; nobody begins.
        await inbox.stop()
        await served.close()
        await close()
      },
      stopped() {
        out('stopped')
        resolve(EXIT.done)
      },
      failed(error) {
        err(`error   the stop failed: ${String(error)}`)
        resolve(EXIT.failed)
      },
    })
  })
}
