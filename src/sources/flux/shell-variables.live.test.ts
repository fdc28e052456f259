/** The language of `postBuild` variables, compared with Flux's own code. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openFluxOracle, type Variables } from '../../../test/appliers/flux-oracle.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { BadSubstitution, substituteVariables } from './shell-variables.ts'

const flux = await openFluxOracle()

const VALUES: Variables = {
  empty: '',
  word: 'hello',
  Mixed: 'hElLo World',
  path: 'a/b/c.tar.gz',
  number: '12345',
  minus: '-3',
  umlaut: 'äöß世界',
  dots: '...a..b.',
  dollar: '$word ${word}',
  star: '*a?[b]',
  backslash: 'a\\b\\\\c',
}

const TABLE: readonly string[] = [
  'nothing',
  '',
  '${word}',
  'a${word}b${Mixed}c',
  '${undefined}',
  '$word',
  '$',
  'cost: 5$',
  '$$',
  '$$$',
  '$$$$',
  '$${word}',
  '$$${word}',
  '$$$${word}',
  '\\${word}',
  '\\\\/',
  '$$ä${word}',
  '$ä',
  '${dollar}',
  // Defaults.
  '${undefined:=d}',
  '${undefined:-d}',
  '${undefined=d}',
  '${undefined:?d}',
  '${undefined:+d}',
  '${word:=d}',
  '${word:+d}',
  '${empty:=d}',
  '${empty=d}',
  '${undefined:=}',
  '${undefined:=a ${word} b}',
  '${undefined:=${empty:=${word}}}',
  '${undefined:=$$}',
  '${undefined:=$}',
  '${undefined:=a\\}b}',
  '${undefined:=a}b}',
  '${undefined:="a: b"}',
  '${undefined:={"a":"b"}}',
  '${undefined:=a\nb}',
  '${undefined:=ä世}',
  '${undefined-d}',
  '${undefined+d}',
  // Length, case.
  '${#word}',
  '${#umlaut}',
  '${#undefined}',
  '${#}',
  '${# word}',
  '${#word}}',
  '${word^}${word^^}${Mixed,}${Mixed,,}',
  '${umlaut^^}',
  '${word,^}',
  '${word^^^}',
  '${word^a}',
  // Substrings.
  '${word:1}',
  '${word:0}',
  '${word:9}',
  '${word:-1}',
  '${word: -1}',
  '${word:1:2}',
  '${word:1:}',
  '${word:1:9}',
  '${word:1::2}',
  '${word:2:-1}',
  '${word:5:-2}',
  '${word:9:-8}',
  '${word:a}',
  '${word:1:a}',
  '${word:}',
  '${word::2}',
  '${word:+1}',
  '${word:0:+2}',
  '${word:${minus}}',
  '${word:${minus}:2}',
  '${word:1:${minus}}',
  '${word:99999999999999999999}',
  '${word:1:99999999999999999999}',
  '${word:9223372036854775807}',
  '${word:ä}',
  '${word:世}',
  '${ä:𝒳}',
  '${umlaut:1}',
  '${umlaut:2}',
  '${umlaut:2:2}',
  '${umlaut:1:1}',
  // Removal.
  '${path#*/}',
  '${path##*/}',
  '${path%.*}',
  '${path%%.*}',
  '${path#a}',
  '${path#b}',
  '${path#a/b/c.tar.gz}',
  '${path#?}',
  '${path##?}',
  '${path#*}',
  '${path##*}',
  '${path%*}',
  '${path%%*}',
  '${path#[a-c]}',
  '${path#[^a-c]}',
  '${path#[c-a]}',
  '${path#[}',
  '${path#[]}',
  '${path#[a}',
  '${path#[a-}',
  '${path#[]a]}',
  '${path#\\a}',
  '${path#\\}',
  '${path#a\\/b}',
  '${path%[xyz]}',
  '${path%]z-a[}',
  '${path#${word}}',
  '${path#}',
  '${path#a${word}}',
  '${umlaut#?}',
  '${umlaut%?}',
  '${umlaut##*ö}',
  '${umlaut#*??}',
  '${umlaut#[ä]}',
  '${dots##*.}',
  '${dots#*..}',
  '${dots%.*}',
  '${star#\\*}',
  '${star#[*]}',
  '${backslash#*\\\\}',
  // Replacement.
  '${word/l/L}',
  '${word//l/L}',
  '${word/l}',
  '${word/l/}',
  '${word//l/}',
  '${word/#h/H}',
  '${word/#l/L}',
  '${word/%o/O}',
  '${word/%l/L}',
  '${word/#h/}',
  '${word/%o/}',
  '${word//}',
  '${word///}',
  '${word////}',
  '${path/\\//-}',
  '${path//\\//-}',
  '${path//\\//\\\\}',
  '${path/a\\/b/$$}',
  '${word/l/$&}',
  '${word/${empty}/x}',
  '${word//${empty}/x}',
  '${umlaut//${empty}/-}',
  '${word/#${empty}/x}',
  '${word/%${empty}/x}',
  '${word/${number}/${path}}',
  '${word/l}x/y}',
  '${backslash//\\\\/x}',
  // Bad.
  '${',
  '${}',
  '${ word}',
  '${word',
  '${word ',
  '${wo-rd}',
  '${wo rd}',
  '${wo.rd}',
  '${1}',
  '${1word}',
  '${$word}',
  '${${word}}',
  '${!word}',
  '${@}',
  '${*}',
  '${?}',
  '${word@Q}',
  '${word[0]}',
  '${word:=',
  '${word:=${}',
  '${word:=${word}',
  '${word/',
  '${word/a/',
  '${word//a',
  '${word%',
  '${word,,',
  'a } b',
  '{{ .Values.${word} }}',
  '{"a": "${word}"}',
  '${ä}',
  '${wörd:=x}',
  '${٣}',
  '${Ⅷ}',
  '${word}\n${number}\n',
]

/** Letters, or the other case of letters, that came with Unicode 16 and 17: whether Flux knows them depends on the Go that it was built with. */
const NEWER =
  /[\u{19b}\u{264}\u{1c89}\u{1c8a}\u{a7cb}-\u{a7dc}\u{10d50}-\u{10d8f}\u{16ea0}-\u{16edf}]/u

function ours(text: string, variables: Variables): { readonly text: string } | 'an error' {
  try {
    return {
      text: substituteVariables(text, (name) =>
        Object.hasOwn(variables, name) ? variables[name] : undefined,
      ),
    }
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return 'an error'
    throw thrown
  }
}

if (flux.state === 'unavailable') test('appliers', { skip: flux.why }, () => undefined)
else {
  after(() => flux.close())
  const theirs = async (
    text: string,
    variables: Variables,
  ): Promise<{ readonly text: string } | 'an error'> => {
    const answer = await flux.ask({ ask: 'substitute', text, variables })
    return answer.error === undefined ? { text: answer.text ?? '' } : 'an error'
  }
  const assertSame = async (text: string, variables: Variables): Promise<void> =>
    assert.deepEqual(ours(text, variables), await theirs(text, variables), JSON.stringify(text))

  for (const text of TABLE)
    test(`substitutes ${JSON.stringify(text)} like Flux`, () => assertSame(text, VALUES))

  test('every character has the same case as in Flux', async () => {
    const letters = Array.from({ length: 0x2ff_ff }, (_each, code) =>
      String.fromCodePoint(code),
    ).filter((letter) => /[\p{L}\p{M}\p{N}\p{So}]/u.test(letter) && !NEWER.test(letter))
    const text = '${all^^}\n${all,,}'
    const all = { all: letters.join('\n') }
    const [one, other] = [ours(text, all), await theirs(text, all)]
    assert.ok(one !== 'an error' && other !== 'an error')
    const [have, want] = [one.text.split('\n'), other.text.split('\n')]
    assert.equal(have.length, want.length)
    const different = want.flatMap((letter, index) =>
      letter === have[index] ? [] : [`${letters[index % letters.length]} ${have[index]} ${letter}`],
    )
    assert.deepEqual(different, [])
  })

  const name = fc.constantFrom(...Object.keys(VALUES), 'undefined')
  const literal = fc.string({
    unit: fc.constantFrom(...'abhloXz019 ./\\$*?[]^-:=#%{},+"\'\n_äß世'),
    maxLength: 4,
  })
  const { expression } = fc.letrec<{ expression: string; parameter: string }>((tie) => ({
    parameter: fc.oneof(
      { depthSize: 'small' },
      literal,
      literal,
      fc.constantFrom('*', '?', '1', '2', '-1', '-2', 'l', '[a-m]', ''),
      tie('expression'),
    ),
    expression: fc
      .tuple(
        name,
        fc.constantFrom(
          '',
          ':=',
          ':-',
          '=',
          ':?',
          ':+',
          ',',
          ',,',
          '^',
          '^^',
          '#',
          '##',
          '%',
          '%%',
          ':',
          '/',
          '//',
          '/#',
          '/%',
          '!',
          '-',
        ),
        fc.array(tie('parameter'), { maxLength: 3 }),
        fc.constantFrom('}', '}', '}', '}', '}', '}', '', '/}'),
      )
      .map(([variable, operator, parameters, end]) => {
        const separator = operator.startsWith('/') ? '/' : operator === ':' ? ':' : ''
        return `\${${variable}${operator}${parameters.join(separator)}${end}`
      }),
  }))
  const texts = fc
    .array(fc.oneof(literal, expression, fc.constantFrom('$$', '${', '}', '${#word}', '$$${')), {
      maxLength: 5,
    })
    .map((parts) => parts.join(''))
  const value = fc.oneof(
    literal,
    fc.constantFrom(...Object.values(VALUES)),
    fc.string({ maxLength: 8, unit: 'grapheme-ascii' }),
  )
  const variables = fc
    .dictionary(fc.constantFrom(...Object.keys(VALUES)), value, { maxKeys: 6 })
    .map((own): Variables => ({ ...VALUES, ...own }))

  test('substitutes any text with any variables like Flux', () =>
    fc.assert(fc.asyncProperty(texts, variables, assertSame), { numRuns: 4000 }))
}
