import { describe, expect, it } from 'vitest';
import { credentialOf } from './credential.js';

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');
const old = (authorization?: string): unknown => credentialOf(authorization, { basic: true });
const token = (text: string): object => ({ kind: 'token', token: text });

describe('what a request shows', () => {
  it('is nothing without the header, and something with an empty one', () => {
    expect(old(undefined)).toEqual({ kind: 'none' });
    expect(old('')).toEqual({ kind: 'unreadable' });
  });

  it('is a token as bearer, or as the password of whatever user, as clients write it', () => {
    expect(old('Bearer t0ken')).toEqual(token('t0ken'));
    // RFC 7617, and what Go and curl send for name:TOKEN.
    expect(old('Basic QWxhZGRpbjpvcGVuLXNlc2FtZQ==')).toEqual(token('open-sesame'));
    expect(old('basic  bmFtZTpUT0tFTg==')).toEqual(token('TOKEN'));
    for (const name of ['', 'jo doe', 'Jürgen']) expect(old(`Basic ${base64(`${name}:t`)}`)).toEqual(token('t'));
    expect(old(`Basic ${base64('name:a:b')}`)).toEqual(token('a:b'));
  });

  it('is no token as password where only bearer is taken', () => {
    expect(credentialOf('Basic bmFtZTpUT0tFTg==', { basic: false })).toEqual({ kind: 'unreadable' });
    expect(credentialOf('Bearer t0ken', { basic: false })).toEqual(token('t0ken'));
  });

  it.each([
    ['no scheme', 'bmFtZTpUT0tFTg=='],
    ['another scheme', 'Digest bmFtZTpUT0tFTg=='],
    ['nothing behind the scheme', 'Basic '],
    ['no base64', 'Basic name:TOKEN'],
    ['base64 without its end', 'Basic bmFtZTpUT0tFTg'],
    ['bits behind its end', 'Basic bmFtZTpUT0tFTh=='],
    ['two words', 'Basic bmFtZTpUT0tFTg== x'],
    ['no colon', `Basic ${base64('TOKEN')}`],
    ['no password', `Basic ${base64('TOKEN:')}`],
    ['a space in the password', `Basic ${base64('name:to ken')}`],
    ['a line end in it', `Basic ${base64('name:token\n')}`],
    ['a control character in the name', `Basic ${base64('na\u0000me:token')}`],
    ['no UTF-8', `Basic ${base64(Uint8Array.of(0x61, 0x3a, 0xff))}`],
  ])('is unreadable with %s', (_, authorization) => {
    expect(old(authorization)).toEqual({ kind: 'unreadable' });
  });
});
