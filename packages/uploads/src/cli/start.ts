/** `start`: the inbox, its sweep, the API and Mission Control in one process, until a signal ends it. */
import { stopOnSignals } from 'jobmill'
import { serve } from 'jobmill/http'
import { type Command, EXIT } from './command.ts'
import { keepSmall } from './keep-small.ts'
import { openInbox } from './open-inbox.ts'

const DEFAULT_PORT = 8788

export const start: Command = {
  words: 'start',
  says: 'runs the inbox until a signal stops it',
  options: {
    port: ['PORT', `where it listens (default ${DEFAULT_PORT})`],
    bind: ['ADDRESS', 'the address to listen on (default 127.0.0.1)'],
  },
  async run({ config, out, err }) {
    const settings = config()
    keepSmall()
    const { port = DEFAULT_PORT, bind = '127.0.0.1', tokens, blobs } = settings
    const { inbox, newMill, close } = await openInbox(settings)
    const mill = newMill({ log: 'warn' })
    await inbox.start(mill)
    const served = await serve(mill, {
      port,
      bind,
      beside: inbox.fetch,
      apps: { uploads: inbox.app },
      ...(tokens !== undefined && { tokens }),
    })
    const ended = new Promise<number>((resolve) => {
      stopOnSignals(mill, {
        async beforeClose() {
          // Whoever is sending may end; nobody begins.
          await inbox.stop()
          await served.close()
          await close()
        },
        stopped: () => resolve(EXIT.done),
        failed(error) {
          err(`error   the stop failed: ${String(error)}`)
          resolve(EXIT.failed)
        },
      })
    })
    await mill.start()
    out(`store   ${mill.storeName}`)
    out(`blobs   ${blobs === 'postgres' ? 'in the database' : (blobs ?? 'uploads-blobs')}`)
    out(`inbox   ${served.url}/mailboxes/ID/uploads`)
    if (served.hasPage) out(`page    ${served.url}/`)
    out(`ready   ${served.url}; stop it with Ctrl-C`)
    return ended
  },
}
