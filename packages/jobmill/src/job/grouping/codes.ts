/**
 * Codes that name the cause of an error on their own, whatever the words around them: error numbers of the
 * system, replies of SMTP and curl, and codes of services. Words differ between versions and servers.
 */

const SYSTEM = `
  ACCES ADDRINUSE ADDRNOTAVAIL AGAIN AI_AGAIN AI_NODATA AI_NONAME BUSY CANCELED CONNABORTED CONNREFUSED CONNRESET
  DQUOT EXIST FBIG HOSTDOWN HOSTUNREACH INTR INVAL IO ISDIR LOOP MFILE NAMETOOLONG NETDOWN NETRESET NETUNREACH NFILE
  NOBUFS NODATA NODEV NOENT NOMEM NOSPC NOSYS NOTCONN NOTDIR NOTEMPTY NOTFOUND NOTSUP OPNOTSUPP PERM PIPE PROTO
  REFUSED ROFS SERVFAIL SHUTDOWN SOCKETTIMEDOUT STALE TIMEDOUT TIMEOUT TXTBSY XDEV`
  .trim()
  .split(/\s+/)
  .join('|')

/** The call that failed, and the error number of the system. */
const ERRNO = new RegExp(`(?:\\b([a-z]{3,12})\\w* )?\\b(E(?:${SYSTEM}))\\b(?:.{0,80}, ([a-z]{2,10}) )?`)
/** `550 5.1.1`, or `550-5.1.1` in a reply of several lines. */
const SMTP = /\b([245]\d\d)[ -](\d\.\d{1,3}\.\d{1,3})\b/
const CURL = /\bcurl: \((\d{1,3})\)/
/** Codes of products that a number identifies: AADSTS7000222, ORA-00001. */
const NUMBERED = /\b(AADSTS|ORA-|SQLSTATE\W{0,2})(\d{4,7}|[0-9A-Z]{5})\b/
const REDIS =
  /\b(?:READONLY|OOM|NOAUTH|WRONGTYPE|NOSCRIPT|BUSYGROUP|NOGROUP|MISCONF|LOADING|CLUSTERDOWN|MASTERDOWN|CROSSSLOT|MOVED|ASK|TRYAGAIN|EXECABORT)(?= [A-Za-z])/

/** System messages, each with its code. */
const SAID = new Map([
  ['No space left on device', 'enospc'],
  ['No such file or directory', 'enoent'],
  ['Connection refused', 'econnrefused'],
  ['Connection reset by peer', 'econnreset'],
  ['Broken pipe', 'epipe'],
  ['Too many open files', 'emfile'],
  ['Read-only file system', 'erofs'],
  ['Cannot allocate memory', 'enomem'],
  ['heap out of memory', 'heap out of memory'],
])
const SENTENCE = new RegExp([...SAID.keys()].join('|'))
/** The text differs between releases of Node.js. */
const JSON_TOKEN = /\bUnexpected token .{1,80}(?:in JSON at|is not valid JSON)/s

/** `econnrefused`, `550 5.1.1`, `curl 28`. Null if no such code says what happened. */
export function causeCode(message: string): string | null {
  const smtp = SMTP.exec(message)
  if (smtp !== null) return `smtp ${smtp[1] ?? ''} ${smtp[2] ?? ''}`
  const curl = CURL.exec(message)
  if (curl !== null) return `curl ${curl[1] ?? ''}`
  const numbered = NUMBERED.exec(message)
  if (numbered !== null) return `${numbered[1] ?? ''}${numbered[2] ?? ''}`.toLowerCase()
  const redis = REDIS.exec(message)
  if (redis !== null) return `redis ${redis[0].toLowerCase()}`
  const errno = ERRNO.exec(message)
  if (errno !== null)
    return [errno[2], errno[3] ?? errno[1]]
      .filter((part) => part !== undefined)
      .join(' ')
      .toLowerCase()
  const sentence = SENTENCE.exec(message)
  if (sentence !== null) return SAID.get(sentence[0]) ?? null
  return JSON_TOKEN.test(message) ? 'json unexpected token' : null
}
