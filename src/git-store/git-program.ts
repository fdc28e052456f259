export { gitEnvironment, gitText, runGit } from './program/git-program.ts'
