import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommitView } from '@backporch/git-store/package-repository'
import { parseObjectId } from '@backporch/kyaml/files'
import { type BotIdentity, hasBotIdentity, isBot } from './bot-identity.ts'

const GITHUB = 'noreply@github.com'
const BOT: BotIdentity = { email: 'bot@example.com', forges: [GITHUB], account: 'porch[bot]' }
const ID = parseObjectId('a'.repeat(40))

function commitBy(author: string, committer: string, parents = 1): CommitView {
  const person = (email: string) => ({ name: '', email, at: 0 })
  return {
    id: ID,
    tree: ID,
    message: '',
    parents: Array(parents).fill(ID),
    author: person(author),
    committer: person(committer),
  }
}

test("recognises the bot's own address and the address that the forge gives its account", () => {
  for (const email of [
    'bot@example.com',
    '12+porch[bot]@users.noreply.github.com',
    'porch[bot]@users.noreply.git.example.com',
  ])
    assert.equal(isBot(email, BOT), true, email)
  for (const email of [
    '12+renovate[bot]@users.noreply.github.com',
    '12+ada@users.noreply.github.com',
    'porch[bot]@example.com',
    'x+porch[bot]@users.noreply.github.com',
    GITHUB,
  ])
    assert.equal(isBot(email, BOT), false, email)
  assert.equal(
    isBot('porch[bot]@users.noreply.github.com', { email: BOT.email }),
    false,
    'no forge makes commits',
  )
})

test('a commit claims the bot identity if the bot made it, or its account through the forge', () => {
  const own = '12+porch[bot]@users.noreply.github.com'
  assert.equal(hasBotIdentity(commitBy(BOT.email, BOT.email), BOT), true)
  assert.equal(hasBotIdentity(commitBy(own, GITHUB), BOT), true)
  for (const [author, committer] of [
    [BOT.email, GITHUB],
    [BOT.email, 'ada@example.com'],
    [own, own],
    [own, BOT.email],
    [own, 'ada@example.com'],
    ['ada@example.com', GITHUB],
  ] as const)
    assert.equal(hasBotIdentity(commitBy(author, committer), BOT), false, `${author} ${committer}`)
  assert.equal(hasBotIdentity(commitBy(own, GITHUB, 2), BOT), false, 'a merge is of whoever merged')
})
