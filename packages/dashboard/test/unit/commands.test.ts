/** Which commands the palette offers for a text. */
import { Server } from 'lucide-react'
import { expect, test } from 'vitest'
import { type Command, jobIdIn, matching } from '../../src/shell/palette/commands.ts'

const command = (type: string, name: string, isFirst = false): Command => ({
  id: `${type} ${name}`,
  name,
  type,
  icon: Server,
  isFirst,
  run: () => undefined,
})

const ALL = [
  command('Page', 'Queues', true),
  command('Queue', 'mail'),
  command('Queue', 'webmail'),
  command('Kind', 'mail.send'),
  command('Kind', 'send.mail'),
  command('Action', 'Pause queue mail'),
]

const names = (text: string): readonly string[] => matching(ALL, text).map(({ id }) => id)

test('every word must occur, and beginnings come first', () => {
  expect(names('mail')).toEqual([
    'Queue mail',
    'Kind mail.send',
    'Kind send.mail',
    'Action Pause queue mail',
    'Queue webmail',
  ])
  expect(names('MAIL pause')).toEqual(['Action Pause queue mail'])
  expect(names('kind mail')).toEqual(['Kind mail.send', 'Kind send.mail'])
  expect(names('nothing')).toEqual([])
  expect(names(' ')).toEqual(['Page Queues'])
})

test('the id of a job is found as it was copied', () => {
  const id = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'
  for (const text of [id, id.toUpperCase(), ` "${id}",\n`, `'${id}'`]) expect(jobIdIn(text)).toBe(id)
  for (const text of ['', id.slice(1), `${id} ${id}`, `job ${id}`]) expect(jobIdIn(text)).toBeNull()
})
