/** `step.transaction` with a database connection of the application. */
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { defineJob } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { testMill } from '../../src/testing/index.ts'
import { completeScene as scene } from '../runtime/complete-scene.ts'
import { places } from '../runtime/places.ts'

describe.each(places)('P17 steps in a transaction on $name', ({ create }) => {
  const at = create()

  test('P10 P17 are recorded with their rows, once, and a rollback leaves no trace of either', async () => {
    let runs = 0
    const { mill, user, job } = await scene(at, async ({ step }, { tx, insert, ...client }) => {
      await client.begin()
      const room = await step.transaction(tx, 'book', async () => {
        runs += 1
        await insert(`room ${runs}`)
        return runs
      })
      if (runs === 1) {
        await client.rollBack()
        throw new Error('full')
      }
      await client.commit()
      if (runs === 2) {
        runs += 1
        throw new Error('after the commit')
      }
      return room
    })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    expect([await user.names(), await mill.steps(id)]).toEqual([[], []])
    await mill.drain({ scheduled: true })
    expect(await user.names()).toEqual(['room 2'])
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 2 })
    expect(await mill.steps(id)).toMatchObject([{ name: 'book', kind: 'transaction', result: 2 }])
  })
})

test('P17 on sqlite: a step that throws in a synchronous transaction rolls it back', async () => {
  const path = freshFile()
  const db = new Database(path)
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE booking (n)')
  const job = defineJob({
    kind: 'a',
    maxAttempts: 1,
    run({ step }) {
      db.transaction(() => {
        void step.transaction(db, 'book', () => {
          db.exec('INSERT INTO booking VALUES (1)')
          throw new Error('full')
        })
      })()
    },
  })
  const mill = await testMill({ jobs: [job], store: ({ now }) => sqlite(path, { clock: now }) })
  onTestFinished(() => mill[Symbol.asyncDispose]())
  const { id } = await mill.enqueue(job, null)
  await mill.drain()
  expect(db.prepare('SELECT * FROM booking').all()).toEqual([])
  expect(await mill.get(id)).toMatchObject({ state: 'dead', error: 'Error: full' })
  expect(await mill.steps(id)).toEqual([])
})
