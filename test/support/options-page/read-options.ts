/** Reads the options of one interface: names, types and comments, with those that it inherits. */
import {
  isInterfaceDeclaration,
  isParenthesizedTypeNode,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isUnionTypeNode,
  type Node,
  type PropertySignatureDeclaration,
  type TypeNode,
} from 'typescript/unstable/ast'
import type { Checker } from 'typescript/unstable/sync'
import type { OpenFile } from './compiler.ts'
import { declarationOf, isNumeric, isProperty, typeText } from './type-text.ts'

export interface Option {
  /** `backoff.base`: without the prefix of the section. */
  readonly path: string
  readonly type: string
  /** The comment, on one line. */
  readonly text: string
  readonly isRequired: boolean
  readonly isNumeric: boolean
  /** Where it is declared. Interfaces that extend the same one have options with the same place. */
  readonly place: string
}

/** Types of options whose members are listed too. */
const EXPANDED = new Set(['Backoff', 'DebounceRequest', 'DedupeRequest', 'InstanceOptions', 'Retention'])

interface Property {
  readonly node: PropertySignatureDeclaration
  /** False for a member of one of several objects: the other objects do not have it. */
  readonly isAlways: boolean
}

export function readOptions({ source, checker }: OpenFile, type: string): Option[] {
  const found = source.statements.find(
    (each) => (isInterfaceDeclaration(each) || isTypeAliasDeclaration(each)) && each.name.getText() === type,
  )
  if (found === undefined) throw new Error(`${source.fileName} has no type ${type}. Correct sections.ts`)
  return topLevel(found, checker).flatMap((property) => optionsAt(property, '', checker))
}

function topLevel(declaration: Node, checker: Checker): Property[] {
  if (isTypeAliasDeclaration(declaration) && isUnionTypeNode(declaration.type))
    return membersOf(declaration.type, checker)
  const { name } = declaration as Node & { readonly name: Node }
  const symbol = checker.getSymbolAtLocation(name)
  if (symbol === undefined) throw new Error(`no symbol for ${name.getText()}`)
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
  const nodes = properties.map((property) => {
    const node = property.declarations[0]?.resolve()
    if (node !== undefined && isProperty(node)) return node
    throw new Error(`${name.getText()}.${property.name} is not declared as a property`)
  })
  return nodes.toSorted(byPlace(declaration)).map((node) => ({ node, isAlways: true }))
}

const file = (node: Node): string => node.getSourceFile().fileName

/** Own members first, then those of other files: the compiler returns inherited ones in no fixed order. */
function byPlace(declaration: Node): (a: Node, b: Node) => number {
  const rank = (node: Node): number => {
    if (node.parent === declaration) return 0
    return file(node) === file(declaration) ? 2 : 1
  }
  return (a, b) => rank(a) - rank(b) || (file(a) === file(b) ? a.pos - b.pos : file(a) < file(b) ? -1 : 1)
}

function optionsAt({ node, isAlways }: Property, above: string, checker: Checker): Option[] {
  const path = `${above}${node.name.getText()}`
  const option = {
    path,
    type: typeText(node.type, checker),
    text: commentOf(node),
    isRequired: isAlways && node.postfixToken === undefined,
    isNumeric: isNumeric(node.type, checker),
    place: `${node.getSourceFile().fileName}:${node.pos}`,
  }
  return [option, ...membersOf(node.type, checker).flatMap((each) => optionsAt(each, `${path}.`, checker))]
}

/** The members of the objects that a type names, each name once. */
function membersOf(type: TypeNode, checker: Checker): Property[] {
  const found = new Map<string, Property>()
  for (const property of everyMember(type, true, checker)) {
    const name = property.node.name.getText()
    if (!found.has(name)) found.set(name, property)
  }
  return [...found.values()]
}

function everyMember(type: TypeNode, isAlways: boolean, checker: Checker): Property[] {
  const own = (members: readonly Node[]): Property[] =>
    members.filter(isProperty).map((node) => ({ node, isAlways }))
  if (isParenthesizedTypeNode(type)) return everyMember(type.type, isAlways, checker)
  if (isUnionTypeNode(type)) return type.types.flatMap((each) => everyMember(each, false, checker))
  if (isTypeLiteralNode(type)) return own(type.members)
  if (!isTypeReferenceNode(type) || !EXPANDED.has(type.typeName.getText())) return []
  const declaration = declarationOf(type.typeName, checker)
  if (declaration === undefined) return []
  if (isTypeAliasDeclaration(declaration)) return everyMember(declaration.type, isAlways, checker)
  return isInterfaceDeclaration(declaration) ? own(declaration.members) : []
}

/** The comment right before the declaration. */
function commentOf(node: Node): string {
  const before = node.getFullText().slice(0, node.getStart() - node.pos)
  const comment = [...before.matchAll(/\/\*\*([\s\S]*?)\*\//g)].at(-1)?.[1] ?? ''
  return comment
    .replaceAll(/^\s*\*/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
