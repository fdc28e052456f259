import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHtmlCode, formatMarkdownLink, formatMarkdownProse } from '@backporch/kyaml/markdown'

test('words stay plain; names, numbers with signs and addresses become code', () => {
  assert.equal(
    formatMarkdownProse(
      "Flux Kustomization flux-system/apps (suspended) re-applies within 10 minutes; it's not told by www.example.com.",
    ),
    "Flux Kustomization flux-system/apps (suspended) re-applies within 10 minutes; it's not told by `www.example.com`.".replace(
      'flux-system/apps',
      '`flux-system/apps`',
    ),
  )
  assert.equal(
    formatMarkdownProse('@all fixes #1, GH-3 deadbeef 1234567 <b> **x**'),
    '`@all` fixes `#1`, `GH-3` `deadbeef` `1234567` `<b>` `**x**`',
  )
})

test('the start of a text never makes a list, heading or quote', () => {
  for (const text of ['1. x', '- x', '# x', '> x', '+ x', '--- x', '1) x'])
    assert.match(formatMarkdownProse(text), /^`/, text)
})

test('a link has a web address with its special characters encoded, or is no link', () => {
  assert.equal(formatMarkdownLink('`a`', 'javascript:alert(1)'), '`a`')
  assert.equal(formatMarkdownLink('`a`', ''), '`a`')
  assert.equal(formatMarkdownLink('`a`', '//evil.example'), '`a`')
  assert.equal(
    formatMarkdownLink('`a`', 'https://x.example/a b)|<>"`\\\n[é'),
    '[`a`](https://x.example/a%20b%29%7C%3C%3E"%60%5C%0A%5B%C3%A9)'.replace('"', '%22'),
  )
  assert.equal(
    formatMarkdownLink('`a`', 'https://x.example/%40b#L12'),
    '[`a`](https://x.example/%40b#L12)',
  )
})

test('HTML code escapes everything that could close it', () => {
  assert.equal(
    formatHtmlCode('</code></summary>&lt;"\n'),
    '<code>&lt;/code&gt;&lt;/summary&gt;&amp;lt;&quot;\\u{a}</code>',
  )
  assert.equal(formatHtmlCode(''), '<code>(empty)</code>')
})
