import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { parseRemoteAddress } from './remote-address.ts'

const parse = (text: string) => parseRemoteAddress(text, '/srv')

test('prints an https address without its credentials', () => {
  const address = parse('https://bot:s3cret%21@git.example.com:8443/team/repo.git/?token=s3cret#x')
  assert.deepEqual(address, {
    kind: 'http',
    printed: 'https://git.example.com:8443/team/repo.git',
    url: 'https://git.example.com:8443/team/repo.git',
    credential: { username: 'bot', password: 's3cret!' },
  })
})

test('accepts http only for the local machine', () => {
  for (const host of ['localhost', '127.0.0.1:3000', '127.8.8.8', '[::1]:80'])
    assert.equal(parse(`http://${host}/r.git`).kind, 'http')
  for (const host of ['example.com', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'])
    refused(`http://${host}/r.git`)
})

test('a path and a file address are local, and become absolute', () => {
  assert.deepEqual(parse('repo'), {
    kind: 'local',
    printed: '/srv/repo',
    path: '/srv/repo',
    inPlace: true,
  })
  assert.deepEqual(parse('./a:b'), {
    kind: 'local',
    printed: '/srv/a:b',
    path: '/srv/a:b',
    inPlace: true,
  })
  assert.deepEqual(parse('file:///srv/my%20repo.git'), {
    kind: 'local',
    printed: '/srv/my repo.git',
    path: '/srv/my repo.git',
    inPlace: false,
  })
  refused('file://host/srv/repo.git')
})

test('parses destination, port and path of both forms of ssh addresses', () => {
  assert.deepEqual(parse('git@host.example:team/repo.git'), {
    kind: 'ssh',
    printed: 'git@host.example:team/repo.git',
    destination: 'git@host.example',
    port: undefined,
    path: 'team/repo.git',
  })
  assert.deepEqual(parse('ssh://git:pw@host.example:2222/~me/repo.git'), {
    kind: 'ssh',
    printed: 'ssh://git@host.example:2222/~me/repo.git',
    destination: 'git@host.example',
    port: 2222,
    path: '~me/repo.git',
  })
  const six = parse('ssh://[::1]/srv/repo.git')
  assert.equal(six.kind === 'ssh' && six.destination, '::1')
})

test('rejects an address that would run a program or look like an option', () => {
  for (const text of [
    'ext::sh -c x',
    'fd::17',
    'git://example.com/r.git',
    'ftp://example.com/r.git',
    '-oProxyCommand=x',
    '--upload-pack=x',
    'git@-oProxyCommand=x:repo',
    '-oProxyCommand=x:repo',
    'git@host:-oProxyCommand',
    'ssh://-oProxyCommand=x/repo',
    'ssh://-user@host/repo',
    'ssh://host/',
    'https://example.com/',
    'https://',
    'host:',
    '',
    'a\nb',
    'ssh://host/a%0ab',
    'https://user:%zz@example.com/r',
  ]) {
    refused(text)
  }
})

test('an error never repeats the credentials of the address', () => {
  for (const text of [
    'http://bot:s3cret@example.com/r.git',
    'git://bot:s3cret@example.com/r',
    'file://bot:s3cret@host/r',
    'https://bot:s3cret@/r',
    'https://bot:s3cret%zz@example.com/r',
  ]) {
    assert.throws(
      () => parse(text),
      (error: unknown) =>
        error instanceof Failure &&
        !JSON.stringify(error).includes('s3cret') &&
        !String(error.stack).includes('s3cret'),
    )
  }
})

function refused(text: string): void {
  assert.throws(
    () => parse(text),
    (error: unknown) => error instanceof Failure && error.code === 'BP4010',
    text,
  )
}
