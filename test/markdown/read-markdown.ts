/**
 * What a forge makes of a text: read by two parsers of GitHub Flavored Markdown (micromark, marked), and by what forges do after
 * them, which no parser does: mentions, references, ids of commits and emoji in whatever is text.
 */
import { marked, type Token, type Tokens } from 'marked'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

export interface ReadMarkdown {
  /** Of text outside of code, each piece by itself. */
  readonly texts: readonly string[]
  readonly html: readonly string[]
  /** Of links and images, as they would be requested. */
  readonly urls: readonly string[]
  /** For each table, the cells of each row, the head first. */
  readonly tables: readonly (readonly number[])[]
  /** Kinds of the blocks at the top, in order. */
  readonly blocks: readonly string[]
  readonly ticked: number
}

/** The part of mdast's nodes that is looked at. */
interface Node {
  readonly type: string
  readonly value?: string | undefined
  readonly url?: string | undefined
  readonly checked?: boolean | null | undefined
  readonly children?: readonly Node[]
}

export function readWithMicromark(markdown: string): ReadMarkdown {
  const root: Node = fromMarkdown(markdown, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  })
  const all = [...below(root)]
  const valuesOf = (type: string): string[] =>
    all.flatMap((node) => (node.type === type ? [node.value ?? ''] : []))
  return {
    texts: valuesOf('text'),
    html: valuesOf('html'),
    urls: all.flatMap(({ url }) => (url === undefined ? [] : [url])),
    tables: all
      .filter(({ type }) => type === 'table')
      .map((table) => (table.children ?? []).map((row) => row.children?.length ?? 0)),
    blocks: (root.children ?? []).map(({ type }) => type),
    ticked: all.filter(({ checked }) => checked === true).length,
  }
}

function* below(node: Node): Generator<Node> {
  yield node
  for (const child of node.children ?? []) yield* below(child)
}

export function readWithMarked(markdown: string): ReadMarkdown {
  const tokens = marked.lexer(markdown, { gfm: true })
  const all: Token[] = []
  marked.walkTokens(tokens, (token) => {
    all.push(token)
  })
  const tables = all.filter((token): token is Tokens.Table => token.type === 'table')
  return {
    // Text with pieces in it is seen again as these.
    texts: all.flatMap((token) =>
      token.type === 'text' && !('tokens' in token && token.tokens !== undefined)
        ? [token.raw]
        : [],
    ),
    html: all.flatMap((token) => (token.type === 'html' ? [token.raw] : [])),
    urls: all.flatMap((token) =>
      token.type === 'link' || token.type === 'image' ? [String((token as Tokens.Link).href)] : [],
    ),
    tables: tables.map(({ header, rows }) => [header.length, ...rows.map((row) => row.length)]),
    blocks: tokens.filter(({ type }) => type !== 'space').map(({ type }) => type),
    ticked: all.filter(
      (token) => token.type === 'list_item' && (token as Tokens.ListItem).checked === true,
    ).length,
  }
}

const OUR_HTML = [
  /^<details><summary>[A-Za-z0-9 ,:]*(<code>[^<>\n]*<\/code>)?<\/summary>$/,
  /^<\/details>$/,
  /^<\/?sub>$/,
  /^<!-- backporch:[a-z]+=[0-9a-f]{8}(:[0-9,-]+)? -->$/,
  /^<!-- backporch:(open|raise)=[0-9a-f]{16} -->$/,
  /^<!-- backporch:v1 [a-z0-9 -]+ -->$/,
  /^<!-- backporch:preview [0-9a-f]{40} [0-9a-f]{40} -->$/,
]

/** What forges make of text outside of code. */
const ACTIVE: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['mention', /@\w/],
  ['reference', /[#!]\d/],
  ['reference', /\bGH-\d/i],
  ['reference to a wiki page', /\[\[/],
  ['commit', /\b(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/i],
  ['emoji', /:[a-z0-9_+-]+:/i],
  ['formula', /\$[^$\s]/],
  ['address', /:\/\/|www\.|javascript:/i],
]

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Cs}/u

/** Everything in a text of ours that is not ours, for a reader of a failing test; empty where nothing is. */
export function actsOfMarkdown(markdown: string, ourUrls: readonly string[]): string[] {
  const problems: string[] = []
  const unseen = UNSEEN.exec(markdown)
  if (unseen !== null)
    problems.push(
      `cannot be seen: U+${unseen[0].charCodeAt(0).toString(16)} behind ${markdown.slice(0, unseen.index).slice(-60)}`,
    )
  // Bots read commands at the start of any line, of code too.
  const command = /^[ \t]*\/[a-z].*/im.exec(markdown)
  if (command !== null) problems.push(`command ${command[0].slice(0, 60)}`)
  for (const [name, read] of [
    ['micromark', readWithMicromark(markdown)],
    ['marked', readWithMarked(markdown)],
  ] as const) {
    for (const html of read.html.map((value) => value.trim()))
      if (!OUR_HTML.some((pattern) => pattern.test(html)))
        problems.push(`${name}: HTML ${html.slice(0, 200)}`)
    for (const url of read.urls)
      if (!ourUrls.some((ours) => url.startsWith(ours)))
        problems.push(`${name}: link ${url.slice(0, 200)}`)
    for (const text of read.texts)
      for (const [what, pattern] of ACTIVE)
        if (pattern.test(text)) problems.push(`${name}: ${what} in ${text.slice(0, 200)}`)
    for (const rows of read.tables)
      if (new Set(rows).size > 1)
        problems.push(`${name}: a table has rows of ${[...new Set(rows)].join(' and ')} cells`)
    if (read.ticked > 0) problems.push(`${name}: a box is ticked`)
  }
  return problems
}
