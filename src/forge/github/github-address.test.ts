import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import { parseGitHubAddress } from './github-address.ts'
import { createGitHubDialect } from './github-forge.ts'

const COMMIT = parseObjectId('0123456789abcdef0123456789abcdef01234567')

it('parses the address of every remote that names a repository', () => {
  const table: readonly (readonly [remote: string, host: string, api: string])[] = [
    ['https://github.com/acme/deploy.git', 'github.com', 'https://api.github.com'],
    ['https://github.com/acme/deploy/', 'github.com', 'https://api.github.com'],
    ['https://user:canary@github.com/acme/deploy', 'github.com', 'https://api.github.com'],
    ['https://www.github.com/acme/deploy', 'github.com', 'https://api.github.com'],
    ['git@github.com:acme/deploy.git', 'github.com', 'https://api.github.com'],
    ['org-1234@github.com:acme/deploy.git', 'github.com', 'https://api.github.com'],
    ['ssh://git@github.com/acme/deploy.git', 'github.com', 'https://api.github.com'],
    ['ssh://git@ssh.github.com:443/acme/deploy.git', 'github.com', 'https://api.github.com'],
    [
      'https://git.corp.example:8443/acme/deploy.git',
      'git.corp.example:8443',
      'https://git.corp.example:8443/api/v3',
    ],
    [
      'ssh://git@git.corp.example:2222/acme/deploy',
      'git.corp.example',
      'https://git.corp.example/api/v3',
    ],
    ['https://acme.ghe.com/acme/deploy', 'acme.ghe.com', 'https://api.acme.ghe.com'],
    ['http://127.0.0.1:3000/acme/deploy.git', '127.0.0.1:3000', 'http://127.0.0.1:3000/api/v3'],
  ]
  for (const [remote, host, apiUrl] of table) {
    const found = parseGitHubAddress(remote)
    assert.deepEqual(
      [found?.host, found?.owner, found?.repository, found?.apiUrl],
      [host, 'acme', 'deploy', apiUrl],
      remote,
    )
    assert.doesNotMatch(JSON.stringify(found), /canary/)
  }
})

it('rejects any other remote', () => {
  const table = [
    '',
    'deploy',
    '/srv/acme/deploy',
    'file:///srv/acme',
    'https://github.com/acme',
    'https://github.com/acme/deploy/tree/main',
    'https://github.com/../deploy',
    'https://github.com/ac%2Fme/deploy',
    'git@github.com:acme',
    'git://github.com/acme/deploy',
    'ext::sh -c github.com/acme/deploy',
  ]
  for (const remote of table) assert.equal(parseGitHubAddress(remote), undefined, remote)
})

it('links to lines of files, with every character that a path may have', () => {
  const address = parseGitHubAddress('git@github.com:acme/deploy.git')
  assert.ok(address !== undefined)
  const { fileUrl, branchFileUrl, bodyLimit, alerts, folds } = createGitHubDialect(address)
  assert.equal(
    fileUrl(COMMIT, 'apps/web/deploy.yaml', 12),
    `https://github.com/acme/deploy/blob/${COMMIT}/apps/web/deploy.yaml#L12`,
  )
  assert.equal(
    fileUrl(COMMIT, 'a b/#1?(x)%.yaml', undefined),
    `https://github.com/acme/deploy/blob/${COMMIT}/a%20b/%231%3F%28x%29%25.yaml`,
  )
  assert.equal(
    branchFileUrl('proposed/apps/web/drift-1', 'apps/ä.md'),
    'https://github.com/acme/deploy/blob/proposed/apps/web/drift-1/apps/%C3%A4.md',
  )
  assert.deepEqual([bodyLimit, alerts, folds], [58_000, true, true])
})
