// A job for a free worker is picked up by the notifier, without waiting for the next heartbeat.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { echo } from '../kit/support.ts'
import { places } from './places.ts'

describe.each(places)('pickup on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  const at = create()

  test.each(['from the start', 'later on'])(
    'a job in a queue that is served %s starts at once',
    async (since) => {
      const queue = since.replaceAll(' ', '-')
      const mill = await at.mill({ jobs: [echo], serve: since === 'from the start' ? [queue] : ['other'] })
      await mill.platform.advance('1s')
      if (since === 'later on') await mill.serve(queue)
      await mill.platform.settled()
      const now = mill.clock.now()
      const { id } = await mill.enqueue(echo, { n: 1 }, { queue })
      await mill.platform.settled()
      expect(await mill.get(id)).toMatchObject({ state: 'done' })
      expect(mill.clock.now()).toBe(now)
    },
  )
})
