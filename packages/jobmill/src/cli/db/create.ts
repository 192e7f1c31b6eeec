/** `jobmill db create`: the database itself, where there is none. */
import { type Command, EXIT } from '../command.ts'
import { optionsFor } from '../with-mill.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../waiting.ts'

export const dbCreate: Command = {
  words: 'db create',
  says: 'make the database when there is none (the tables come with db migrate, or the first start)',
  examples: ['jobmill db create', 'jobmill db create --db postgres://app@localhost/app'],
  async run(given, terminal) {
    const { store } = await optionsFor(given, { mayCreate: true, mayCreateNamed: true })
    const created = await waitingFor('the database', toolsOf(store).create(), terminal)
    if (given.has('json')) terminal.out(JSON.stringify({ store: store.name, created }))
    else terminal.out(`${store.name}: ${created ? 'created' : 'it was there already'}`)
    return EXIT.done
  },
}
