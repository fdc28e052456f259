import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { actsOfMarkdown, readWithMarked, readWithMicromark } from '../../markdown/read-markdown.ts'
import { goldenTexts } from './write.ts'

const folder = new URL('.', import.meta.url)
const golden = goldenTexts()
const URLS = ['https://github.example/', 'https://gitea.example/', 'https://evil.example/issues/1%20www.evil.example%20eve@evil.example%20:tada:%20deadbeef']

function bodyOf(text: string): string {
  return text.replace(/^<!--\ntitle: [^]*?\n-->\n\n/, '')
}

test('there is one golden file for every text, and no other', () => {
  assert.deepEqual(
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort(),
    [...golden.keys()].sort(),
  )
})

for (const [name, text] of golden) {
  test(`${name} matches the code (npm run goldens writes it)`, () => {
    assert.equal(text, readFileSync(new URL(name, folder), 'utf8'))
  })

  test(`${name} is inert: no mention, reference, foreign HTML or link, and every table keeps its columns`, () => {
    // Comments link to what they name; the address that a forge gave for it is the forge's.
    assert.deepEqual(actsOfMarkdown(bodyOf(text), URLS), [])
  })
}

for (const [name, text] of [...golden].filter(([name]) => /^(one|four|thirty|hostile|mass).*\.(github|gitea|plain)\.md$/.test(name) && name !== 'hostile.plain.md')) {
  test(`the first 25 lines of ${name} answer what, who, since when, and what a merge and a close do`, () => {
    const screen = bodyOf(text).split('\n').slice(0, 25)
    // Nothing has to be unfolded for it.
    const [observed = ''] = screen.join('\n').split('<details>')
    for (const answer of [/^> .*\*\*.*(cluster|clusters)/m, /Changed by (an unknown writer|perhaps |`)/, /first seen \d{4}-\d\d-\d\d/, /^\| \*\*merge\*\* \(plan: /m, /^\| \*\*close\*\* \| [^|]+\|.* silenced for (\d+ days|24 hours)/m])
      assert.match(observed, answer)
  })
}

test('every body ends with our marker, and no open block swallows it', () => {
  for (const [name, text] of golden) {
    if (name.endsWith('.report.md') || name === 'outcomes.md') continue
    const body = bodyOf(text)
    assert.match(body, /\n<!-- backporch:v1 [^\n]+ -->\n$/, name)
    if (!/^(dashboard|onboarding)/.test(name)) assert.match(body, /<sub>¹ The field manager/, name)
    for (const read of [readWithMicromark(body), readWithMarked(body)]) {
      assert.ok(read.html.some((html) => html.includes('backporch:v1')), name)
      assert.ok(!read.blocks.includes('heading'), name)
    }
  }
})

test('the report contains all of a large drift', () => {
  const report = golden.get('four-hundred-and-twelve-objects.report.md') ?? ''
  const changes = readWithMicromark(report).tables[1]
  assert.equal((changes?.length ?? 0) - 1, 495)
})
