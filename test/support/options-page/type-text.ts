/** Types as users read them: without `readonly`, type arguments and the names of internal aliases. */
import {
  isArrayTypeNode,
  isConditionalTypeNode,
  isFunctionTypeNode,
  isIndexedAccessTypeNode,
  isMappedTypeNode,
  isParenthesizedTypeNode,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeOperatorNode,
  isTypeParameterDeclaration,
  isTypeQueryNode,
  isTypeReferenceNode,
  isUnionTypeNode,
  type Node,
  type PropertySignatureDeclaration,
  SyntaxKind,
  type TypeNode,
} from 'typescript/unstable/ast'
import type { Checker } from 'typescript/unstable/sync'

/** Replaced by their argument. */
const WRAPPERS = new Set(['Readonly', 'NoInfer', 'Awaited'])
/** Printed with their arguments. */
const GENERIC = new Set(['Record', 'Promise'])
/** Names that users know, or that have a section of their own. Longer aliases keep their name too. */
const NAMED = new Set(['Duration', 'LimitOptions', 'Middleware', 'QueueOptions', 'ScheduleOptions'])
const LONGEST_INLINE = 70

/** The declaration that a name in a type refers to, in whichever file it is. */
export function declarationOf(name: Node, checker: Checker): Node | undefined {
  const symbol = checker.getSymbolAtLocation(name)
  if (symbol === undefined) return undefined
  const [handle] = symbol.declarations
  const found = handle?.resolve()
  if (found !== undefined && found.kind !== SyntaxKind.ImportSpecifier) return found
  return checker.getAliasedSymbol(symbol).declarations[0]?.resolve()
}

export function typeText(node: TypeNode, checker: Checker): string {
  const print = (inner: TypeNode): string => typeText(inner, checker)
  if (isParenthesizedTypeNode(node)) return `(${print(node.type)})`
  if (isTypeOperatorNode(node)) return print(node.type)
  if (isArrayTypeNode(node)) return `${print(node.elementType)}[]`
  if (isMappedTypeNode(node)) return node.type === undefined ? 'unknown[]' : `${print(node.type)}[]`
  if (isConditionalTypeNode(node)) return print(node.trueType)
  if (isTypeLiteralNode(node)) {
    const names = node.members.filter(isProperty).map(({ name }) => name.getText())
    return `{ ${names.join(', ')} }`
  }
  if (isUnionTypeNode(node))
    return node.types
      .filter(({ kind }) => kind !== SyntaxKind.UndefinedKeyword)
      .map((each) => (isFunctionTypeNode(each) ? `(${print(each)})` : print(each)))
      .join(' | ')
  if (isFunctionTypeNode(node)) {
    const given = node.parameters.map(({ name, type }) =>
      type === undefined ? name.getText() : `${name.getText()}: ${print(type)}`,
    )
    return `(${given.join(', ')}) => ${node.type === undefined ? 'unknown' : print(node.type)}`
  }
  if (isTypeReferenceNode(node)) {
    const name = node.typeName.getText()
    const [first, ...more] = node.typeArguments ?? []
    if (WRAPPERS.has(name) && first !== undefined) return print(first)
    if (GENERIC.has(name) && first !== undefined) return `${name}<${[first, ...more].map(print).join(', ')}>`
    return inlined(node.typeName, checker) ?? name
  }
  if (isIndexedAccessTypeNode(node)) return elementsText(node.objectType, checker)
  return node.getText()
}

/** `(typeof SCOPES)[number]` is the elements of the array, in their order. */
function elementsText(type: TypeNode, checker: Checker): string {
  const query = isParenthesizedTypeNode(type) ? type.type : type
  const list = isTypeQueryNode(query) ? declarationOf(query.exprName, checker) : undefined
  const [, elements] = /\[(.*)\] as const/s.exec(list?.getText() ?? '') ?? []
  if (elements === undefined) throw new Error(`${type.getText()} is not a list of texts`)
  return elements
    .split(',')
    .map((each) => each.trim())
    .join(' | ')
}

/** The meaning of a type parameter, or of an alias that is short enough. */
function inlined(name: Node, checker: Checker): string | undefined {
  const declaration = declarationOf(name, checker)
  if (declaration === undefined || NAMED.has(name.getText())) return undefined
  if (isTypeParameterDeclaration(declaration)) {
    const meaning = declaration.constraint ?? declaration.defaultType
    return meaning === undefined ? 'unknown' : typeText(meaning, checker)
  }
  if (!isTypeAliasDeclaration(declaration)) return undefined
  const text = typeText(declaration.type, checker)
  return text.length <= LONGEST_INLINE ? text : undefined
}

/** Whether a number or a duration is a possible value. The members of objects are options of their own. */
export function isNumeric(node: TypeNode, checker: Checker): boolean {
  if (node.kind === SyntaxKind.NumberKeyword) return true
  if (isParenthesizedTypeNode(node)) return isNumeric(node.type, checker)
  if (isUnionTypeNode(node)) return node.types.some((each) => isNumeric(each, checker))
  if (!isTypeReferenceNode(node)) return false
  const declaration = declarationOf(node.typeName, checker)
  return declaration !== undefined && isTypeAliasDeclaration(declaration)
    ? isNumeric(declaration.type, checker)
    : false
}

export function isProperty(node: Node): node is PropertySignatureDeclaration {
  return isPropertySignatureDeclaration(node)
}
