/** Opening a PostgreSQL store: options, names, migrations, and unsuitable databases. */
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import { aJob } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')

async function query(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

async function openAndClose(schema: string): Promise<void> {
  const store = postgres(url, { schema, notifier: false })
  await store.open()
  await store.close()
}

describe('postgres options', () => {
  test('unknown and invalid options are refused, with the fix', () => {
    expect(() => postgres(url, { shema: 'x' } as object)).toThrow(/Did you mean "schema"/)
    expect(() => postgres(url, { schema: 'My Schema' })).toThrow(/is not a valid schema name/)
    expect(() => postgres(url, { schema: 'x"; DROP TABLE job; --' })).toThrow(/is not a valid schema name/)
    expect(() => postgres(url, { connections: 0 })).toThrow(/connections/)
    expect(() => postgres(url, { deadline: '-1s' })).toThrow(/deadline/)
    expect(() => postgres('localhost')).toThrow(/postgres:\/\/user:password@host/)
  })

  test('its name shows the server and never the password', () => {
    expect(postgres('postgres://ada:secret@db.example:5433/app').name).toBe(
      'postgres ada@db.example:5433/app',
    )
    expect(postgres('postgres://ada:secret@db.example/app', { schema: 'jobs' }).name).toBe(
      'postgres ada@db.example/app schema jobs',
    )
  })
})

describe('postgres settings', () => {
  test('a session whose arrays cannot have nulls is refused', async () => {
    const session = new URL(url)
    session.searchParams.set('options', '-c array_nulls=off')
    await expect(
      postgres(session.href, { schema: 'open_nulls', notifier: false }).open(),
    ).rejects.toMatchObject({
      code: 'STORE_UNSUPPORTED',
      field: 'array_nulls',
    })
  })
})

describe('postgres migrations', () => {
  test('all tables are in the chosen schema, and a second open changes nothing', async () => {
    const schema = freshSchema(url, 'open')
    await openAndClose(schema)
    const tables = async (): Promise<unknown> =>
      (
        await query(
          `SELECT oid, relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace ORDER BY 1`,
        )
      ).rows
    const before = await tables()
    await openAndClose(schema)
    expect(await tables()).toEqual(before)
    expect(
      (
        await query(
          `SELECT count(*)::int AS n FROM pg_class WHERE relname = 'later' AND relnamespace = 'public'::regnamespace`,
        )
      ).rows,
    ).toEqual([{ n: 0 }])
  })

  test('two schemas of one database are independent', async () => {
    const [one, other] = [freshSchema(url, 'open'), freshSchema(url, 'open')].map((schema) =>
      postgres(url, { schema, notifier: false }),
    )
    await one?.open()
    await other?.open()
    await one?.enqueue([aJob()])
    expect(await one?.counts()).toMatchObject([{ ready: 1 }])
    expect(await other?.counts()).toEqual([])
    await one?.close()
    await other?.close()
  })

  test('a database of a newer release is refused, with the fix', async () => {
    const schema = freshSchema(url, 'open')
    await openAndClose(schema)
    await query(`INSERT INTO ${schema}.migration VALUES (99, 'later', 'x')`)
    await expect(openAndClose(schema)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      fix: expect.stringContaining('Install the release') as string,
    })
  })

  test('a migration that was edited after it was applied is refused', async () => {
    const schema = freshSchema(url, 'open')
    await openAndClose(schema)
    await query(`UPDATE ${schema}.migration SET checksum = 'x'`)
    await expect(openAndClose(schema)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' })
  })

  test('a user without the right to create schemas can open an existing one', async () => {
    const schema = freshSchema(url, 'open')
    const role = `${schema}_role`
    await query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
    const theirs = new URL(url)
    theirs.username = role
    const store = postgres(theirs.href, { schema, notifier: false })
    await store.open()
    await store.enqueue([aJob()])
    await store.close()
    const elsewhere = postgres(theirs.href, { schema: freshSchema(url, 'open'), notifier: false })
    await expect(elsewhere.open()).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringContaining('lacks a privilege') as string,
    })
    await query(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${role}`)
  })

  test('close during open leaves nothing open, and the store can be opened again', async () => {
    const store = postgres(url, { schema: freshSchema(url, 'open') })
    const opening = store.open()
    await store.close()
    await opening
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await store.open()
    expect(await store.counts()).toEqual([])
    await store.close()
  })
})

describe('postgres: connection settings', () => {
  test('N7 invalid settings are refused by name', () => {
    const there = 'postgres://app@127.0.0.1/x'
    const refused: [unknown[], string, RegExp][] = [
      [[{}], 'url', /Pass exactly one of url, pool and connection/],
      [[there, { pool: { options: {} } }], 'pool', /conflicts with url/],
      [[{ pool: { options: {} }, connection: {} }], 'connection', /conflicts with pool/],
      [[{ pool: {} }], 'pool', /has no connection settings/],
      [[there, { url: there }], 'url', /passed twice/],
      [[{ connection: 'localhost' }], 'connection', /must be an object/],
      [[5], 'url', /must be a URL or an object.*got 5.*Pass postgres:/],
      [[true], 'url', /must be a URL or an object/],
      [[() => there], 'url', /must be a URL or an object/],
      [[null], 'url', /must be a URL or an object/],
      [[[]], 'options', /must be an object/],
      [[there, null], 'options', /must be an object.*got null/],
      [[there, 5], 'options', /must be an object/],
      [[new pg.Pool()], 'pool', /Pass postgres\(\{ pool \}\)/],
      [[new pg.Client()], 'connection', /a pg client was passed.*Pass postgres\(\{ pool \}\)/],
      [[{ connection: { host: 5 } }], 'connection.host', /must be a string.*got 5/],
      [[{ connection: { user: {} } }], 'connection.user', /must be a string/],
      [[{ connection: { database: 1 } }], 'connection.database', /must be a string/],
      [[{ connection: { connectionString: 1 } }], 'connection.connectionString', /must be a string/],
      [[{ connection: { port: 'abc' } }], 'connection.port', /must be a whole number.*got "abc"/],
      [[{ connection: { port: 70_000 } }], 'connection.port', /from 1 to 65535/],
      [[{ connection: { password: 5 } }], 'connection.password', /must be a string or a function/],
      [[{ connection: { ssl: 'yes' } }], 'connection.ssl', /must be a boolean or an object/],
      [[there, { notifier: 5 }], 'notifier', /must be a URL or false.*got 5/],
      [[there, { notifier: 'nowhere' }], 'notifier', /is not the URL of a PostgreSQL server/],
      [['postgres://app:%zz@127.0.0.1/x'], 'url', /is not the URL.*%25/],
      [[there, { password: 42 }], 'password', /must be a string or a function/],
      [[there, { ssl: 'require' }], 'ssl', /must be a boolean or an object/],
      [[`${there}?sslmode=require`, { ssl: true }], 'ssl', /also set in the URL/],
    ]
    for (const [args, field, message] of refused) {
      const call = (): unknown => (postgres as (...options: unknown[]) => unknown)(...args)
      expect(call).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', field }))
      expect(call).toThrow(message)
    }
  })
  test('N7 no error quotes a password', () => {
    const secret = 'Zk9xQ2pLm'
    const full = `postgres://u:${secret}@h/db`
    const refused: [unknown[], string][] = [
      [[{ connection: full }], 'connection'],
      [[{ connection: `host=h password=${secret}` }], 'connection'],
      [[{ connection: { host: [full] } }], 'connection.host'],
      [[{ connection: { port: full } }], 'connection.port'],
      [[{ connection: `${'u'.repeat(300)}:${secret}${'x'.repeat(300)}@h/db` }], 'connection'],
      [[{ connection: `u:${secret}${'x'.repeat(300)}@h/db` }], 'connection'],
      [[{ pool: full }], 'pool'],
      [[full, full], 'options'],
      [[full, { ssl: full }], 'ssl'],
      [[full, { notifier: [full] }], 'notifier'],
      [[full, { notifier: ` ${full}` }], 'notifier'],
      [[` ${full}`], 'url'],
      [[`\n${full}`], 'url'],
      [[{ connection: { connectionString: ` ${full}` } }], 'url'],
      [[`postgres:/u:${secret}@h/db`], 'url'],
      [[`postgres:u:${secret}@h/db`], 'url'],
      [[`postgres://u:1/${secret}@h/db`], 'url'],
      [[`"${full}"`], 'url'],
    ]
    for (const [args, field] of refused) {
      const call = (): unknown => (postgres as (...options: unknown[]) => unknown)(...args)
      expect(call).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', field }))
      expect(call).not.toThrow(secret)
    }
  })

  test('N7 a misspelled TLS parameter of the URL is refused, with the right name', () => {
    const there = 'postgres://app:Zk9xQ2pLm@127.0.0.1/x'
    for (const wrong of ['sslMode', 'sslmod', 'SSLMODE', 'ssl-mode', 'ssl_mode', 'slmode']) {
      const message = `Write "${wrong}" as "sslmode"`
      expect(() => postgres(`${there}?application_name=a&${wrong}=require`)).toThrow(message)
      expect(() => postgres(there, { notifier: `${there}?${wrong}=require` })).toThrow(message)
      expect(() => postgres({ connection: { connectionString: `${there}?${wrong}=require` } })).toThrow(
        message,
      )
    }
    expect(() => postgres(`${there}?SSL=true`)).toThrow('Write "SSL" as "ssl"')
    expect(() => postgres(`${there}?sslsomethingelse=1`)).toThrow('Use one of: ssl, sslmode')
    for (const right of [
      'sslmode=require',
      'ssl=true',
      'sslnegotiation=direct',
      'sslaccept=strict',
      'schema=x',
    ])
      expect(postgres(`${there}?${right}`).name).toBe('postgres app@127.0.0.1/x')
  })
})
