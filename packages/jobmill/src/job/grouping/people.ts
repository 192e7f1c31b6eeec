/** Replaces the names of people and companies in the middle of a sentence: two or more capitalized words. */

const WORD = "\\p{Lu}[\\p{Ll}\\p{M}'’]+(?:-\\p{Lu}[\\p{Ll}\\p{M}]+)*\\.?"
const PARTICLE = '(?:von|van|de|del|della|da|dos|di|la|le|der|den|bin|al|el|of|y|e|zu|ter)'
const NAME = new RegExp(
  `(?<=[\\p{L}\\p{N},>)] )${WORD}(?: (?:${PARTICLE} )*(?:${WORD}|\\p{Lu}{2,5}\\b\\.?))+`,
  'gu',
)
/** Two or more words of a script without capitals. */
const OTHER =
  /(?<=[a-z] )[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{1,4} [\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{1,4}(?= [a-z])/gu
/** Words of phrases that are written like names. */
const PHRASES =
  /\b(?:Error|Exception|Request|Requests|Server|Service|Gateway|Timeout|Internal|Unavailable|Found|Allowed|Large|Many|Entity|Content|Authorization|Access|Token|Key|Id|Too|Not|No|Invalid|Missing|Failed|Sender|Identity|Session|Account|Merchant|Reference|Protocol|Database|Connection|Query|Transaction|Payment|Checkout|Method|Bad|Rate|Limit|Deadline|Exceeded|Resource|Precondition|Forbidden|Unauthorized|Conflict|Gone|Message|Address|Unknown|User|Quota|File|Type|Status|Code|Array|Object|String|Number|Promise|Map|Date|Json|Http|Api|Record|Length|Quote|Closed|Header|Headers|Connect|Field|Value|Option|Parameter|Argument|Format|Size|Data|Column|Row|Line|Input|Output|Stream|Socket|Host|Network|Certificate|Expired|Denied|Refused|Reset|Aborted|Duplicate|Entry|Constraint|Violation|Schema|Validation|Parse|Syntax|Unexpected|Unsupported|Media|Exist|Exists|Required|Exceeded|Operation|Permission|Process|Node|Script|Limit|Reached|Heap|Memory)\b/

export function maskPeople(text: string): string {
  return text.replaceAll(NAME, (name) => (PHRASES.test(name) ? name : '<name>')).replaceAll(OTHER, '<name>')
}
