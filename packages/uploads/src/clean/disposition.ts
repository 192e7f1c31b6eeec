/**
 * Builds a Content-Disposition header with an escaped name: the plain form, and that of RFC 5987 for
 * non-ASCII.
 */
export function disposition(name: string): string {
  // eslint-disable-next-line no-control-regex
  const printable = name.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '')
  const ascii = printable.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["\\]/g, '\\$&')
  const encoded = encodeURIComponent(printable).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
