/** Words that the rules of grouping know, in languages that messages of applications often use. */

function wordsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** Words without a meaning of their own, and values such as null. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  wordsIn(`
  a am an and are as at be been by cause caused causes das de dem den der des die du el false for from had
  has have im in is it la le les los nan nil none null of on or reason root that the these this to true um
  und undefined vom von was were with zu в во для и на от по с со`),
)

/** Nouns in messages that are followed by a name or a value. */
const NAMED: ReadonlySet<string> = new Set(
  wordsIn(`
  account agent album almacén app application article asset auftrag backup bank barcode batch bestellung
  bin bot branch brand broker bucket build bundle bus called campaign car card carrier cart case category
  channel chart chat city claim class client cliente clients clinic cluster code collection color commande
  comment company component compte contact container contract conversation country coupon courier course
  cuenta currency customer dashboard dataset deal department depot device disk document domain driver
  employee endpoint entrepôt environment event exchange experiment export extension factura facture
  feature feed file filiale flag flight flow folder format group guest host id image import index instance
  integration invoice issue item job konto kunde kunden label lager language lead lesson level library
  list locale location lock machine magasin mailbox mandate market merchant metric migration mode model
  module month named namespace network node number operator order org organisation organization owner
  package page parcel partition partner patient payment pedido peer period phase pipeline plan platform
  playlist plugin pod policy port post printer product profile project provider queue rack realm rechnung
  recipient record reference region release repo report repository resource role room route run schedule
  seat sector segment sender sensor server service session shard sheet shelf shipment shop site size sku
  slot slug snapshot source stage state station status step store street student subject subscription
  supplier tag target task teacher team template tenant terminal thread ticket tienda tier token topic
  track transaction transfer user username variant vehicle vendor version video volume voucher wallet
  warehouse webhook widget worker workflow workspace zone заказ заказа клиент клиента пользователь склад
  складе счёт товар`),
)
const WORD_BEFORE = /(\p{L}+)[:=]?\s$/u
const BEFORE_FIELD = /(?:column|field|property|parameter|param|argument|attribute|option|variable|header) $/i
/** Words that may follow such a noun but are not a name. */
const NO_NAME =
  /^(?:not|no|does|did|do|can|cannot|could|must|may|should|would|will|already|still|name|id|type|key|code|count|limit|size|[a-z]+(?:ed|ing|n't))$/i

/** Longer than every noun above. */
const LOOK_BACK = 20

export function followsNoun(text: string, from: number, word: string): boolean {
  const [, before = ''] = WORD_BEFORE.exec(text.slice(Math.max(0, from - LOOK_BACK), from)) ?? []
  const noun = before.toLowerCase()
  return (NAMED.has(noun) || NAMED.has(noun.replace(/s$/, ''))) && !NO_NAME.test(word)
}

/** Whether a part of a schema is named without quotes: `missing field currency`. */
export function isFieldName(text: string, from: number, word: string): boolean {
  return !NO_NAME.test(word) && BEFORE_FIELD.test(text.slice(Math.max(0, from - LOOK_BACK), from))
}

export const UNIT =
  /^(?:ms|s|sec|secs|seconds?|milliseconds?|minutes?|min|mins|hours?|h|days?|d|weeks?|kb|mb|gb|kib|mib|gib|bytes?|b|am|pm|uhr|eur|usd|gbp|chf|руб)$/i
